#!/usr/bin/env bash
# pack.sh STORE_WRITER HEDDLE STATS.json: runs out of a store into a file, and back into another store.
set -uo pipefail
writer=$1
heddle=$2
stats=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
db=$folder/runs.db
out=$folder/out
failures=0

fail() { echo "FAILED: $*"; failures=$((failures + 1)); }
# expect STATUS PATTERN ARGUMENTS...: heddle store ARGUMENTS; its status and a line of both streams.
expect() {
    local status=$1 pattern=$2 got
    shift 2
    "$heddle" store "$@" >"$out" 2>&1
    got=$?
    [ $got -eq "$status" ] && grep -Eq -- "$pattern" "$out" && return
    fail "heddle store $*: wanted status $status and /$pattern/, got status $got and:"
    sed 's/^/    /' "$out" | head -20
}
# same SQL: both stores answer alike, and with something.
same() {
    local a b
    a=$("$heddle" query "$db" --sql "$1" --csv) b=$("$heddle" query "$folder/other.db" --sql "$1" --csv)
    [ "$a" = "$b" ] && [ "$(wc -l <<<"$a")" -gt 1 ] || fail "the stores differ: $1"
}

# ten runs that are done, three that failed, one under way
"$writer" "$db" "$stats" 1 10 bfs >/dev/null || exit 1
printf 'starting\nerror: "no", said it\n' >"$folder/log"
"$writer" "$db" "$folder/log" 1 3 cfd fail >/dev/null || exit 1
"$writer" "$db" "$stats" 1 1 lbm leave >/dev/null || exit 1

expect 0 'all.pack: 13 runs' pack "$db" "$folder/all.pack"
expect 0 'bfs.pack: 10 runs' pack "$db" "$folder/bfs.pack" workload=bfs
expect 0 'one.pack: 1 run$' pack "$db" "$folder/one.pack" workload=bfs seed=3
expect 0 'other.db: 10 runs read, 10 of them new' unpack "$folder/bfs.pack" "$folder/other.db"
expect 0 'other.db: 13 runs read, 3 of them new' unpack "$folder/all.pack" "$folder/other.db"
expect 0 'other.db: 13 runs read, 0 of them new' unpack "$folder/all.pack" "$folder/other.db"

# everything is there again: rows, statistics, parameters, kernels, loads, time series, legend, document
same "SELECT key, identity, simulator, workload, size, machine, settings, mechs, mech_settings, seed, sample,
    command, state, status, error, log, hash, host, seconds, peak_bytes, started, finished FROM run
    WHERE state <> 'running' ORDER BY key"
for view in stats params samples; do
    same "SELECT * FROM $view WHERE workload <> 'lbm' ORDER BY 1, 2, 3, 4, 5, 6"
done
same "SELECT key, kernel.id, name, grid, block, registers, ctas, kernel.cycles, kernel.ipc FROM kernel
    JOIN run ON run.id = kernel.run ORDER BY key, kernel.id"
same "SELECT key, pc, load.executions, lines, stride FROM load JOIN run ON run.id = load.run ORDER BY 1, 2"
same "SELECT * FROM legend ORDER BY name"
same "SELECT key, bytes, hex(zstd) FROM document JOIN run ON run.id = document.run ORDER BY key"

# the same runs, the same bytes, also from the other store
expect 0 'again.pack: 13 runs' pack "$folder/other.db" "$folder/again.pack"
cmp -s "$folder/all.pack" "$folder/again.pack" || fail "the same runs give other bytes"

# without the launches' own statistics: all else is there, and a part of the launches may keep theirs
expect 0 'few.pack: 10 runs' pack "$db" "$folder/few.pack" --launches 0 workload=bfs
expect 0 'few.db: 10 runs read, 10 of them new' unpack "$folder/few.pack" "$folder/few.db"
expect 0 'every.pack: 10 runs' pack "$db" "$folder/every.pack" workload=bfs --launches 1000
cmp -s "$folder/every.pack" "$folder/bfs.pack" || fail "--launches 1000 drops something"
# answer STORE SQL: as CSV
answer() { "$heddle" query "$1" --sql "$2" --csv; }
for sql in "SELECT * FROM stats WHERE workload = 'bfs' ORDER BY 1, 7" \
    "SELECT key, pc, load.executions FROM load JOIN run ON run.id = load.run ORDER BY 1, 2" \
    "SELECT key, name, grid, kernel.cycles FROM kernel JOIN run ON run.id = kernel.run ORDER BY 1, 2, 4"; do
    [ "$(answer "$folder/few.db" "$sql")" = "$(answer "$db" "$sql")" ] || fail "--launches 0 lost: $sql"
done
key=$(answer "$db" "SELECT key FROM run WHERE workload = 'bfs' LIMIT 1" | tail -1)
# statistics STORE: launches of the run that have their own, and one for the whole run
statistics() {
    "$heddle" query "$1" --run "$key" --document | tr -d ' \n' |
        grep -o '"thread_ipc":[0-9.e+-]*,"stats":{' | wc -l
}
[ "$(statistics "$folder/few.db")" = 1 ] && [ "$(statistics "$db")" -gt 1 ] ||
    fail "--launches 0: statistics stand $(statistics "$folder/few.db") times, before $(statistics "$db")"

# a run that is under way here, and done in the pack, is done afterwards
"$writer" "$folder/left.db" "$stats" 1 1 bfs leave >/dev/null || exit 1
expect 0 '10 runs read, 10 of them new' unpack "$folder/bfs.pack" "$folder/left.db"

# what a sweep made is named without the folders above its store
printf 'error: no %s/big.db.work/model.txt\n' "$folder" >"$folder/log2"
"$writer" "$folder/path.db" "$folder/log2" 1 1 cfd fail >/dev/null || exit 1
expect 0 'path.pack: 1 run$' pack "$folder/path.db" "$folder/path.pack"
expect 0 '1 run read, 1 of them new' unpack "$folder/path.pack" "$folder/path2.db"
path=$(answer "$folder/path2.db" "SELECT error FROM run" | tail -1)
[[ $path == *"error: no big.db.work/model.txt" ]] || fail "a pack has the folder of its store: $path"

# files that are not packs, or were damaged: status 2, and no run but whole ones
expect 2 'nothing.pack: No such file' unpack "$folder/nothing.pack" "$folder/x.db"
expect 2 'log: not a pack of runs' unpack "$folder/log" "$folder/x.db"
head -c 3000 "$folder/all.pack" >"$folder/short.pack"
expect 2 'short.pack: it ends early' unpack "$folder/short.pack" "$folder/x.db"
if command -v zstd >/dev/null; then
    # change PATTERN NAME: a pack with a changed text
    change() { zstd -dqc "$folder/all.pack" | sed "$1" | zstd -qc >"$folder/$2.pack"; }
    change 's/"heddle-pack":1/"heddle-pack":2/' newer
    expect 2 'newer.pack: line 1: not what a pack' unpack "$folder/newer.pack" "$folder/x.db"
    change '3s/seed: [0-9]*/seed: 77/' other
    expect 2 'other.pack: line 3: run [0-9a-f]{8}: its key is not that of its identity' unpack \
        "$folder/other.pack" "$folder/x.db"
    change '3s/"hash":"[0-9a-f]*"/"hash":"0"/' hash
    expect 2 'line 3: run [0-9a-f]{8}: its statistics have another hash' unpack "$folder/hash.pack" \
        "$folder/x.db"
    change '4,5d' fewer
    expect 2 'fewer.pack: line 14: not what a pack' unpack "$folder/fewer.pack" "$folder/x.db"
    change '3,$d' cut
    expect 2 'cut.pack: it ends early' unpack "$folder/cut.pack" "$folder/x.db"
fi
expect 2 'store takes: pack STORE FILE' pack "$db"
expect 2 'store takes: pack' explode
expect 2 "did you mean 'workload'" pack "$db" "$folder/x.pack" worklod=bfs
expect 2 'cannot open .*none.db' pack "$folder/none.db" "$folder/x.pack"
[ -e "$folder/x.pack" ] && fail "a pack was made of nothing"
if [ -w /dev/full ]; then expect 1 'cannot write /dev/full: No space left' pack "$db" /dev/full; fi
expect 1 'cannot write .*/no/x.pack' pack "$db" "$folder/no/x.pack"
"$heddle" store --help | awk 'length($0) > 80 { print "FAILED: too wide: " $0; bad = 1 } END { exit bad }' ||
    failures=$((failures + 1))
[ $failures = 0 ] && echo "heddle store: all as expected"
exit $((failures > 0))
