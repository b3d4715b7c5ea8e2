#!/bin/sh
# doc_names.sh SOURCE_DIR: what docs/load.md, docs/sm.md and docs/map.md name is there:
# `some_function` occurs in a source file, and `src/.../file.c` is a file.
set -eu
export LC_ALL=C
cd "$1"
pages="docs/load.md docs/sm.md docs/map.md"
words=$(mktemp)
trap 'rm -f "$words"' EXIT
grep -rohE '[a-z0-9]+(_[a-z0-9]+)+' src include --include='*.[ch]' --include='*.def' | sort -u >"$words"
named=$(grep -ohE '`[a-z0-9]+(_[a-z0-9]+)+`' $pages | tr -d '`' | sort -u)
count=$(printf '%s\n' "$named" | wc -l)
[ "$count" -ge 80 ] || { echo "only $count names: are the pages still there?"; exit 1; }
missing=$(printf '%s\n' "$named" | comm -23 - "$words")
for file in $(grep -ohE '`src/[a-z0-9_/]+\.[ch]`' $pages | tr -d '`' | sort -u); do
    [ -e "$file" ] || missing="$missing $file"
done
[ -z "$missing" ] && { echo "$count names, all in the sources"; exit 0; }
echo "named in $pages, but not in the sources:"
echo "$missing"
exit 1
