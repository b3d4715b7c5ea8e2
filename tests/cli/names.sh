#!/bin/sh
# names.sh SOURCE_DIR: no two source files or scripts of src, include, tests and bench share a name, so that a
# name is enough to speak of a file. Left out: workloads and other CUDA programs, which are named after the
# originals.
set -eu
cd "$1"
files=$(find src include tests bench -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name '*.bash')
count=$(printf '%s\n' "$files" | wc -l)
[ "$count" -ge 500 ] || { echo "only $count source files: is src/ still there?"; exit 1; }
bad=0
for name in $(printf '%s\n' "$files" | sed 's,.*/,,' | sort | uniq -d); do
    echo "several files are called $name:"
    printf '%s\n' "$files" | grep "/$name\$"
    bad=1
done
[ "$bad" = 0 ] && echo "$count source files, each with a name of its own"
exit "$bad"
