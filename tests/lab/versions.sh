#!/usr/bin/env bash
# versions.sh HEDDLE STORE_AGE: figures from the runs of another version of the simulator (--simulator).
set -uo pipefail
heddle=$1
age=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/bench.bash"
cd "$out" || exit 1
make_workload quick "$(real)"
make_workload other "$(real)"
old=a1b2c3d4000000000000000000000001
older=a1b2c3d4ffffffffffffffffffffffff
experiment two.yaml "quick" 2
experiment more.yaml "quick, other" 2
tables() { # tables FILE ARGUMENTS...: the figures of a store, but for the line of the simulator
    local file=$1
    shift
    "$heddle" report "$@" --tables "$file" >told 2>&1 || return 1
    grep -v '^The runs are of simulator' "$file" >"$file.cut"
}
refused() { # refused WHAT STATUS PATTERN ARGUMENTS...
    local what=$1 status=$2 pattern=$3
    shift 3
    timeout 60 "$heddle" "$@" >told 2>&1
    is "$what: status" $? "$status"
    check "$what: $(head -c 300 told)" grep -Eq -- "$pattern" told
}

"$heddle" sweep two.yaml --store now.db >/dev/null 2>&1
is "the runs of this version" $? 0
check "their tables" tables now.md now.db two.yaml
check "the tables say whose runs they are" \
    grep -Eq '^The runs are of simulator `[0-9.]+ [0-9a-f]{32}`\.$' now.md
own=$(sed -n 's/^The runs are of simulator `[^ ]* \(.*\)`\.$/\1/p' now.md)

# ---- a store of another version ----
cp now.db old.db
"$age" old.db $old || exit 1
cp runs.started before
refused "without --simulator" 2 'query old.db --simulators' report old.db --workloads quick
refused "no run is made for a list" 0 '^2 runs: 0 in the store' sweep two.yaml --store old.db -n
check "with it: the figures" tables old.md old.db two.yaml --simulator a1b2
check "with it: the same numbers" cmp now.md.cut old.md.cut
check "with it: whose runs" grep -q "^The runs are of simulator \`0.0.9 $old\`" old.md
"$heddle" reproduce two.yaml --store old.db --simulator a1b2c3d4 --json >told.json 2>told
is "reproduce: status" $? 0
check "reproduce: as JSON" grep -q '"made": 0, "had": 2, "failed": 0' told.json
check "reproduce: whose runs" grep -q "\"simulator\": \"0.0.9 $old\", \"missing\": 0" told.json
"$heddle" sweep two.yaml --store old.db --simulator a1b2 >told 2>&1
is "sweep: status" $? 0
check "sweep: the figure" grep -q '^one: Gain' told
check "sweep: what is there" \
    grep -q '2 runs of simulator .* are in old.db, 0 of them failed, 0 are missing' told
"$heddle" sweep two.yaml --store old.db --simulator a1b2 -n >list
is "the list: status" $? 0
is "the list: done" "$(grep -c '^done' list)" 2
check "the list: the sum" grep -q '^2 in the store, 0 failed, 0 missing' list
check "this version by its own hash" tables own.md now.db two.yaml --simulator "$own"
check "this version: the same numbers" cmp now.md.cut own.md.cut

# ---- runs that only that version could make ----
refused "reproduce with missing runs" 1 'error: only that version of the simulator can make' \
    sweep more.yaml --store old.db --simulator a1b2
check "the figure is there" grep -q '2 runs are missing or failed' told
refused "their number" 1 '2 runs of simulator .*, 2 are missing' \
    sweep more.yaml --store old.db --simulator a1b2
"$heddle" sweep more.yaml --store old.db --simulator a1b2 -n >list
is "the list: missing" "$(grep -c '^missing' list)" 2
check "a report shows what is there" tables more.md old.db more.yaml --simulator a1b2
refused "--again" 2 'make runs, and only their own version' \
    sweep more.yaml --store old.db --simulator a1b2 --again
refused "--slurm" 2 'make runs, and only' reproduce more.yaml --store old.db --simulator a1b2 --slurm
check "nothing was run" cmp before runs.started

# ---- hashes that name no version, or two ----
refused "unknown" 2 "no version of the simulator .* begins with 'ffff'" \
    report old.db two.yaml --simulator ffff
check "unknown: those there are" grep -Eq "^  $old  2 runs, newest 20[0-9-]+ " told
refused "empty" 2 'error: --simulator' sweep two.yaml --store old.db --simulator=
refused "no store" 2 'none.db' reproduce two.yaml --store none.db --simulator a1b2
[ -e none.db ] && is "no store is made" yes no
cp now.db older.db
"$age" older.db $older || exit 1
"$heddle" store pack older.db older.pack >/dev/null && "$heddle" store unpack older.pack old.db >told 2>&1
check "a pack keeps the version" grep -q '2 runs read, 2 of them new' told
refused "two" 2 "several versions .* begins with 'a1b2c3d4'" \
    sweep two.yaml --store old.db --simulator a1b2c3d4
check "of two, by more digits" tables again.md old.db two.yaml --simulator a1b2c3d4f
check "of two: the same numbers" cmp now.md.cut again.md.cut

# ---- which there are ----
"$heddle" query old.db --simulators --csv >list
is "the versions" "$(cut -d, -f1-5 list | sort | tr '\n' ' ')" \
    "$old,0.0.9,2,2,0 $older,0.0.9,2,2,0 simulator,version,runs,done,failed "
check "which is this" grep -Eq "^$own,.*,this version" <("$heddle" query now.db --simulators --csv)
is "the runs of one" \
    "$("$heddle" query old.db --simulator a1b2c3d40 --show workload,simulator --csv | sort -u)" \
    "$(printf 'quick,0.0.9 %s\nworkload,simulator' $old)"
refused "a wrong hash" 2 "no version .* begins with '77'" query old.db --simulator 77
refused "two questions" 2 'four questions' query old.db --simulators --legend

# ---- a version that had fewer parameters: they count where they have their default ----
cp now.db fewer.db
"$age" fewer.db $old maxrregcount 'machine sm.indirect_move' || exit 1
"$heddle" query old.db --show key --csv | sed 1d >keys
"$heddle" query fewer.db --show key --csv | sed 1d >fewer.keys
is "fewer parameters: other keys" "$(grep -cFf keys fewer.keys)" 0
check "fewer parameters" tables fewer.md fewer.db two.yaml --simulator a1b2
check "fewer parameters: the same numbers" cmp now.md.cut fewer.md.cut
sed 's/^  base: {}/  base: {set: {sm.indirect_move: true}}/' two.yaml >set.yaml
"$heddle" sweep set.yaml --store fewer.db --simulator a1b2 -n >list
is "one that it did not have, with another value" "$(grep -c '^missing .* base ' list)" 1
[ $failures = 0 ] && echo "versions of the simulator: all as expected"
exit $((failures > 0))
