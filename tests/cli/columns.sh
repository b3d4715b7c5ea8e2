#!/bin/sh
# columns.sh SOURCE_DIR: no line of code or of running text is wider than 110 columns. Left out: tables and
# lines with a web address, device code outside of the workloads, and documents that Heddle itself writes.
set -eu
cd "$1"
files=$(find src include tests bench scripts docs workloads examples README.md \
    \( -name '*.[ch]' -o -name '*.md' -o -name '*.sh' -o -name '*.bash' -o -path 'workloads/*.cu' \
    -o -path 'workloads/*.cuh' \) | grep -vxE 'docs/statistics\.md|docs/fidelity-tables\.md|docs/claims\.md')
count=$(printf '%s\n' "$files" | wc -l)
[ "$count" -ge 500 ] || { echo "only $count files: are the sources still there?"; exit 1; }
wide=$(printf '%s\n' "$files" | LC_ALL=C.UTF-8 xargs grep -nHE '^.{111,}' |
    grep -v -e '^[^:]*\.md:[0-9]*:|' -e 'https\{0,1\}://' || true)
if [ -n "$wide" ]; then
    echo "wider than 110 columns:"
    printf '%s\n' "$wide"
    exit 1
fi
echo "$count files, no line wider than 110 columns"
