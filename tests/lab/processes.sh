#!/usr/bin/env bash
# processes.sh STORE_WRITER HEDDLE STATS.json: several processes on one store, and processes that are killed
# while they write.
set -uo pipefail
writer=$1
heddle=$2
stats=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
store=$folder/runs.db
fail() { echo "FAILED: $*"; exit 1; }
ask() { "$heddle" query "$1" --csv --sql "$2" | tail -n +2; }

# Four writers of the same forty runs: each run is made once.
pids=()
for i in 1 2 3 4; do
    "$writer" "$store" "$stats" 1 40 >"$folder/$i" 2>"$folder/$i.err" &
    pids+=($!)
done
for p in "${pids[@]}"; do wait "$p" || { cat "$folder"/*.err; fail "a writer failed"; }; done
made=$(cat "$folder"/[1-4] | awk '{ n += $1 } END { print n }')
[ "$made" = 40 ] || fail "40 runs were made $made times"
[ "$(ask "$store" "SELECT count(*) FROM run WHERE state = 'done'")" = 40 ] || fail "not 40 runs"

# Writers that are killed at any moment, also while the file is being made. What is there is whole.
whole="SELECT count(*), count(DISTINCT stats || ' ' || kernels || ' ' || samples), min(stats) FROM (SELECT
    (SELECT count(*) FROM stat WHERE stat.run = run.id) AS stats,
    (SELECT count(*) FROM kernel WHERE kernel.run = run.id) AS kernels,
    (SELECT count(*) FROM sample WHERE sample.run = run.id) AS samples,
    (SELECT bytes FROM document WHERE document.run = run.id) AS bytes
    FROM run WHERE state = 'done') WHERE bytes > 0"
store=$folder/killed.db
killed=0
for round in $(seq 1 25); do
    "$writer" "$store" "$stats" 1 100000 >/dev/null 2>"$folder/err" &
    pid=$!
    sleep "0.0$((RANDOM % 9))$((RANDOM % 10))"
    kill -9 "$pid" 2>/dev/null && killed=$((killed + 1))
    wait "$pid" 2>/dev/null
    [ -s "$folder/err" ] && { cat "$folder/err"; fail "round $round: a writer could not go on"; }
done
[ $killed = 25 ] || fail "only $killed of 25 were killed"
"$writer" "$store" "$stats" 1 200 >"$folder/last" || fail "the store cannot be used any more"
[ "$(ask "$store" "SELECT * FROM pragma_integrity_check")" = ok ] || fail "the store is damaged"
IFS=, read -r runs kinds least <<<"$(ask "$store" "$whole")"
done=$(ask "$store" "SELECT count(*) FROM run WHERE state = 'done'")
[ "$runs" = "$done" ] || fail "$((done - runs)) of $done runs are not whole"
[ "$kinds" = 1 ] && [ "$least" -gt 300 ] ||
    fail "runs with the same statistics have different rows: $kinds kinds"
[ "$done" -ge 200 ] || fail "only $done runs: those of killed writers were not taken over"
[ "$(ask "$store" "SELECT count(*) FROM run WHERE seed <= 200 AND state <> 'done'")" = 0 ] ||
    fail "leases of killed writers hold"
echo "$done whole runs after $killed kills; the last writer made $(cat "$folder/last") of 200"
