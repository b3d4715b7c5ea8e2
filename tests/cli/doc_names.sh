#!/bin/sh
# doc_names.sh SOURCE_DIR: what docs/load.md, docs/sm.md and docs/map.md name is there:
# `some_function` occurs in a source file, `src/.../file.c` is a file, and each row of docs/load.md that names
# functions and files, in this order, names functions that one of these files defines.
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
# "FUNCTION FILES" of each row that begins with functions
rows=$(grep -E '^\| `[a-z0-9_]+`.* \| `src/' docs/load.md | awk -F '|' '{
    gsub(/[`,]/, " ", $3)
    while (match($2, /`[a-z0-9_]+`/)) {
        print substr($2, RSTART + 1, RLENGTH - 2), $3
        $2 = substr($2, RSTART + RLENGTH)
    }
}')
rows_checked=0
while read -r name files; do
    # A definition begins at the left margin and ends without a semicolon.
    # shellcheck disable=SC2086
    grep -hE "^[^ #/].*[ *(]$name\(|^$name\(" $files | grep -qv ';$' || missing="$missing $name($files)"
    rows_checked=$((rows_checked + 1))
done <<ROWS
$rows
ROWS
[ "$rows_checked" -ge 60 ] || { echo "only $rows_checked functions of load.md have files"; exit 1; }
if [ -z "$missing" ]; then
    echo "$count names, all in the sources; $rows_checked functions in the files that load.md names"
    exit 0
fi
echo "named in $pages, but not in the sources:"
echo "$missing"
exit 1
