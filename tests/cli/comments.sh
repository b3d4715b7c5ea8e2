#!/bin/sh
# comments.sh SOURCE_DIR: comments stand above what they describe: no comment behind a field, an enumerator, a
# prototype, a declaration at file scope, a row of a table in a .def file or the opening line of a type.
set -eu
cd "$1"
files=$(find src include tests bench examples workloads -name '*.[ch]' -o -name '*.def')
count=$(printf '%s\n' "$files" | wc -l)
[ "$count" -ge 1000 ] || { echo "only $count files: are the sources still there?"; exit 1; }
behind=$(printf '%s\n' "$files" | xargs awk '
    FNR == 1 { inside = body = in_comment = in_macro = 0 }
    in_macro { in_macro = /\\$/; next }
    /^#/ { in_macro = /\\$/; next }
    in_comment { if (/\*\//) in_comment = 0; next }
    { code = $0; gsub(/"([^"\\]|\\.)*"/, "\"\"", code) }
    code ~ /^[ \t]*\/\*/ { if (code !~ /\*\//) in_comment = 1; next }
    code ~ /\/\*/ {
        before = code; sub(/\/\*.*/, "", before)
        opens = before ~ /^(typedef )?(struct|union|enum)[^;()=]*\{ *$/
        row = FILENAME ~ /\.def$/ && before ~ /\) *$/
        within = code ~ /enum[^;()=]*\{.*\/\*/
        declares = before ~ /^[A-Za-z].*; *$/ || (!body && before ~ /\); *$/)
        if (opens || row || (inside && before !~ /^}/) || declares || within)
            print FILENAME ":" FNR ": " $0
        if (code !~ /\*\//) in_comment = 1
    }
    code ~ /^(typedef )?(struct|union|enum)[^;()=]*\{/ && code !~ /\}/ { inside = 1 }
    /^{/ { body = 1 }
    /^}/ { inside = body = 0 }')
if [ -n "$behind" ]; then
    echo "comments behind declarations; put them above:"
    printf '%s\n' "$behind"
    exit 1
fi
echo "$count files, no comment behind a declaration"
