#!/bin/sh
# names.sh SOURCE_DIR: no two source files, scripts, pages or descriptions share a name, so that a name is
# enough to speak of a file. Left out: what each folder may have (README.md, CMakeLists.txt, a workload's
# workload.yaml) and the inputs of the fuzz tests.
set -eu
cd "$1"
kinds='[ch]|def|cuh?|ptx|md|sh|bash|awk|yaml|m?js|css|html|cmake|svg|tsv'
files=$(find bench docs energy examples experiments include machines models scripts src tests web workloads \
    -type f ! -path '*/node_modules/*' ! -path '*/corpus/*' ! -name README.md ! -name workload.yaml |
    grep -E "\.($kinds)\$")
count=$(printf '%s\n' "$files" | wc -l)
[ "$count" -ge 1000 ] || { echo "only $count source files: are the sources still there?"; exit 1; }
bad=0
for name in $(printf '%s\n' "$files" | sed 's,.*/,,' | sort | uniq -d); do
    echo "several files are called $name:"
    printf '%s\n' "$files" | grep "/$name\$"
    bad=1
done
[ "$bad" = 0 ] && echo "$count source files, each with a name of its own"
exit "$bad"
