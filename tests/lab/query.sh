#!/usr/bin/env bash
# query.sh STORE_WRITER HEDDLE STATS.json: heddle query as a user meets it.
set -uo pipefail
writer=$1
heddle=$2
stats=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
db=$folder/runs.db
out=$folder/out
failures=0

# expect STATUS PATTERN ARGUMENTS...: heddle query ARGUMENTS; its status and a line of its output (both
# streams) must match.
expect() {
    local status=$1 pattern=$2 got
    shift 2
    "$heddle" query "$@" >"$out" 2>&1
    got=$?
    if [ $got -ne "$status" ] || ! grep -Eq -- "$pattern" "$out"; then
        echo "FAILED: heddle query $*"
        echo "  wanted status $status and /$pattern/, got status $got and:"
        sed 's/^/    /' "$out" | head -20
        failures=$((failures + 1))
    fi
}
# rows N ARGUMENTS...: as many rows of CSV behind the line of names.
rows() {
    local want=$1 got
    shift
    got=$("$heddle" query "$db" "$@" --csv | tail -n +2 | wc -l)
    [ "$got" = "$want" ] && return
    echo "FAILED: heddle query $*: $got rows, not $want"
    failures=$((failures + 1))
}

expect 2 "cannot open .*none.db: No such file" "$folder/none.db"
[ -e "$folder/none.db" ] && { echo "FAILED: a query made a store"; failures=$((failures + 1)); }
expect 2 'which store' --csv
printf 'not a store, but longer than the head of a file of SQLite, which has one hundred bytes%20s' . \
    >"$folder/text"
expect 2 'text is not a store' "$folder/text"

# ten runs of one workload, three of another that failed, one under way
"$writer" "$db" "$stats" 1 10 bfs >/dev/null || exit 1
printf 'starting\nerror: "no", said it, of all\n' >"$folder/log"
"$writer" "$db" "$folder/log" 1 3 cfd fail >/dev/null || exit 1
"$writer" "$db" "$stats" 1 1 lbm leave >/dev/null || exit 1

expect 0 '^key +workload +size +machine +with +state +cycles +ipc +seconds' "$db"
expect 0 '^[0-9a-f]{8}  bfs +tiny +fermi +l1.mshrs=128 +done +[0-9]+ ' "$db"
expect 0 '^[0-9a-f]{8}  cfd +tiny +fermi +.*failed +- +- ' "$db"
expect 0 '^no runs$' "$db" workload=nothing
rows 14
rows 10 workload=bfs
rows 13 'workload=?f*'
rows 4 'workload!=bfs'
rows 3 state=failed
rows 5 workload=bfs set:l1.mshrs=128
rows 5 workload=bfs 'set:l1.mshrs<128'
rows 3 workload=bfs mech=lrr
rows 7 workload=bfs 'mech!=lrr'
rows 10 'ipc>0'
rows 0 'ipc>1G'
rows 10 'l1.aml>=1' 'seed<=10'
rows 13 set:l1.size=16K
rows 3 'error~SAID IT'
rows 2 'seed>8' workload=bfs
rows 4 --limit 4
rows 13 'finished>2020'
rows 0 'finished<2020-12-31'
expect 0 '^"exit status 2: error: ""no"", said it, of all"$' "$db" state=failed --show error --csv
expect 0 '^seed,set:l1.mshrs,l1.aml' "$db" --show seed,set:l1.mshrs,l1.aml --csv
expect 0 '^10$' "$db" workload=bfs --show seed --sort -seed --limit 1 --csv
expect 0 '^  \{"workload": "bfs", "l1.aml": [0-9.]+\}' "$db" workload=bfs --show workload,l1.aml --json
expect 0 '^\[\]$' "$db" workload=nothing --json
expect 0 '^bfs +10$' "$db" --sql 'SELECT workload, count(*) FROM run GROUP BY workload'
expect 0 '^l1.aml +cycles +' "$db" --legend
# a key may look like a number, and is none
expect 0 '^77591e91$' "$db" --sql "SELECT '77591e91' AS key"
expect 0 '"key": "77591e91"' "$db" --json --sql "SELECT '77591e91' AS key"

key=$("$heddle" query "$db" workload=bfs --show key --csv --limit 1 | tail -1)
expect 0 "^key +$key" "$db" --run "${key:0:7}"
expect 0 '^command +heddle run bfs --size tiny -m fermi' "$db" --run "$key"
expect 0 '^  machine l1.mshrs: [0-9]+' "$db" --run "$key"
expect 0 '^l1.aml +[0-9.]+ +cycles' "$db" --run "$key"
expect 0 "^\{\"key\":\"$key\"" "$db" --run "$key" --json
expect 0 '^\{"schema":1' "$db" --run "$key" --document
key=$("$heddle" query "$db" workload=cfd --show key --csv --limit 1 | tail -1)
expect 0 '^error +exit status 2: error: "no"' "$db" --run "$key"
expect 0 '^  starting' "$db" --run "$key"
expect 2 'has no statistics' "$db" --run "$key" --document

# wrong use: status 2, a place, a hint
expect 2 "did you mean 'workload'" "$db" worklod=bfs
expect 2 "did you mean 'l1.aml'" "$db" --show l1.amll
expect 2 "did you mean 'set:l1.mshrs'" "$db" set:l1.mshr=3
expect 2 "no run has a field or statistic 'x'" "$db" --sort x
expect 2 'FIELD and one of' "$db" bfs
expect 2 'takes a number' "$db" 'ipc>much'
expect 2 'only SELECT' "$db" --sql 'DELETE FROM run'
expect 2 'no such table: nobody' "$db" --sql 'SELECT * FROM nobody'
expect 2 'one statement at a time' "$db" --sql 'SELECT 1; SELECT 2'
expect 2 'no run has a key' "$db" --run 0000000000000000
expect 2 'digits 0-9 and a-f' "$db" --run "x' OR 1"
expect 2 'ask one' "$db" --run 0 --legend
expect 2 'filter goes with' "$db" workload=bfs --sql 'SELECT 1'
expect 2 'one of them' "$db" --csv --json
expect 2 'goes with --run' "$db" --document
expect 2 'did you mean --show' "$db" --shwo ipc
expect 2 'hint: .heddle sweep NAME --store nowhere.db. makes a store' nowhere.db
expect 2 'is not a store: it is not an SQLite file' "$0"
"$heddle" query --help | awk 'length($0) > 80 { print "FAILED: too wide: " $0; bad = 1 } END { exit bad }' ||
    failures=$((failures + 1))

# on a terminal the table fits
if command -v script >/dev/null; then
    COLUMNS='' script -qec "stty cols 72; '$heddle' query '$db' --show key,workload,command,ipc" /dev/null |
        tr -d '\r' >"$out"
    awk 'length($0) > 72 { print "FAILED: wider than the terminal: " $0; bad = 1 }
        END { exit bad || NR < 14 }' "$out" || failures=$((failures + 1))
fi
[ $failures = 0 ] && echo "heddle query: all as expected"
exit $((failures > 0))
