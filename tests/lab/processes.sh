#!/usr/bin/env bash
# processes.sh STORE_WRITER HEDDLE STATS.json ROUNDS RUNS: several processes on one store, and ROUNDS of them
# that are killed while they write; then a writer of RUNS runs, which takes over what they left.
set -uo pipefail
writer=$1
heddle=$2
stats=$3
rounds=$4
runs_wanted=$5
shared=$((runs_wanted / 5)) # runs that four writers share
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
store=$folder/runs.db
fail() { echo "FAILED: $*"; exit 1; }
ask() { "$heddle" query "$1" --csv --sql "$2" | tail -n +2; }

# Four writers of the same runs: each run is made once.
milliseconds() { echo $(($(date +%s%N) / 1000000)); }
began=$(milliseconds)
pids=()
for i in 1 2 3 4; do
    "$writer" "$store" "$stats" 1 "$shared" >"$folder/$i" 2>"$folder/$i.err" &
    pids+=($!)
done
for p in "${pids[@]}"; do wait "$p" || { cat "$folder"/*.err; fail "a writer failed"; }; done
made=$(cat "$folder"/[1-4] | awk '{ n += $1 } END { print n }')
[ "$made" = "$shared" ] || fail "$shared runs were made $made times"
[ "$(ask "$store" "SELECT count(*) FROM run WHERE state = 'done'")" = "$shared" ] || fail "not $shared runs"

# Writers that are killed at any moment, also while the file is being made. What is there is whole. How long a
# writer may live depends on how long the ones above took: some are killed before their first run is in.
span=$((($(milliseconds) - began) / 8))
[ $span -ge 90 ] || span=90
whole="SELECT count(*), count(DISTINCT stats || ' ' || kernels || ' ' || samples), min(stats) FROM (SELECT
    (SELECT count(*) FROM stat WHERE stat.run = run.id) AS stats,
    (SELECT count(*) FROM kernel WHERE kernel.run = run.id) AS kernels,
    (SELECT count(*) FROM sample WHERE sample.run = run.id) AS samples,
    (SELECT bytes FROM document WHERE document.run = run.id) AS bytes
    FROM run WHERE state = 'done') WHERE bytes > 0"
store=$folder/killed.db
killed=0
for round in $(seq 1 "$rounds"); do
    "$writer" "$store" "$stats" 1 100000 >/dev/null 2>"$folder/err" &
    pid=$!
    life=$((RANDOM % span))
    sleep "$((life / 1000)).$(printf %03d $((life % 1000)))"
    kill -9 "$pid" 2>/dev/null && killed=$((killed + 1))
    wait "$pid" 2>/dev/null
    [ -s "$folder/err" ] && { cat "$folder/err"; fail "round $round: a writer could not go on"; }
done
[ $killed = "$rounds" ] || fail "only $killed of $rounds were killed"
"$writer" "$store" "$stats" 1 "$runs_wanted" >"$folder/last" || fail "the store cannot be used any more"
[ "$(ask "$store" "SELECT * FROM pragma_integrity_check")" = ok ] || fail "the store is damaged"
IFS=, read -r runs kinds least <<<"$(ask "$store" "$whole")"
done=$(ask "$store" "SELECT count(*) FROM run WHERE state = 'done'")
[ "$runs" = "$done" ] || fail "$((done - runs)) of $done runs are not whole"
[ "$kinds" = 1 ] && [ "$least" -gt 300 ] ||
    fail "runs with the same statistics have different rows: $kinds kinds"
[ "$done" -ge "$runs_wanted" ] || fail "only $done runs: those of killed writers were not taken over"
[ "$(ask "$store" "SELECT count(*) FROM run WHERE seed <= $runs_wanted AND state <> 'done'")" = 0 ] ||
    fail "leases of killed writers hold"
echo "$done whole runs after $killed kills; the last writer made $(cat "$folder/last") of $runs_wanted"
