#!/bin/sh
# columns.sh SOURCE_DIR: no line of code, of running text or of a description in YAML is wider than 110
# columns. Left out: tables in documents, lines with a web address, tables of data, PTX, and files that a
# program writes.
set -eu
cd "$1"
kinds='([ch]|def|cuh?|md|sh|bash|awk|yaml|m?js|css|html|cmake)|CMakeLists\.txt|CMakePresets\.json'
written='docs/(statistics|fidelity-tables|claims)\.md'
files=$(find bench docs energy examples experiments include machines scripts src tests web workloads ./*.md \
    ./CMake* -type f ! -path '*/node_modules/*' | grep -E "(/|\.)($kinds)\$" | grep -vxE "$written")
count=$(printf '%s\n' "$files" | wc -l)
[ "$count" -ge 1000 ] || { echo "only $count files: are the sources still there?"; exit 1; }
wide=$(printf '%s\n' "$files" | LC_ALL=C.UTF-8 xargs grep -nHE '^.{111,}' |
    grep -v -e '^[^:]*\.md:[0-9]*:|' -e 'https\{0,1\}://' || true)
if [ -n "$wide" ]; then
    echo "wider than 110 columns:"
    printf '%s\n' "$wide"
    exit 1
fi
echo "$count files, no line wider than 110 columns"
