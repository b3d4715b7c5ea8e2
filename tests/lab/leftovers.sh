#!/usr/bin/env bash
# leftovers.sh HEDDLE: what sweeps leave behind: no process outlives a killed one, also under a wrapper
# script; files of killed ones go, those of live ones stay; the real fault of a run is kept; damaged files are
# told of.
set -uo pipefail
heddle=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/bench.bash"
cd "$out" || exit 1
ends=$(dirname "$heddle")/ends
sweep() { timeout -k 10 100 "$heddle" sweep "$@"; }
# A wrapper that waits for its program, beside a helper that ignores what it is told.
make_workload wrapped "sh -c 'trap \"\" TERM; echo \"helper \$\$\" >>$out/runs.started; sleep 300; :' &
'$ends' wait | while read -r _ _ _ pid; do echo \"program \$pid\" >>'$out/runs.started'; done"
make_workload faulty "'$ends' fault"
make_workload noisy "printf 'a red \\033[31m error\\033[0m \\007 of the program\\n'; exit 1"
make_workload quick "$(real)"
started() { # started COUNT: runs.started has COUNT lines
    for _ in $(seq 200); do
        [ "$(wc -l <runs.started)" -ge "$1" ] && return
        sleep 0.05
    done
    return 1
}

# ---- kill -9 ----
experiment wrapped.yaml "wrapped" 1
: >runs.started
"$heddle" sweep wrapped.yaml --store wrapped.db -j 1 >told 2>&1 &
pid=$!
check "the run has begun" started 3
check "its files are there" ls wrapped.db.work/*.log
# another sweep leaves the files of a live one alone
experiment other.yaml "quick" 1
sweep other.yaml --store wrapped.db >/dev/null 2>&1
check "a live sweep's files stay" ls wrapped.db.work/*.log
kill -KILL $pid
wait $pid 2>/dev/null
gone() { # ten seconds: five of patience with the one that does not listen
    for _ in 1 2 3 4 5; do nobody_left && return; done
    return 1
}
check "kill -9: nothing outlives the sweep: $(cat runs.started)" gone
touch "wrapped.db.work/$(printf '0%.0s' $(seq 32)).123.part.json" # of a run that no plan has
sweep other.yaml --store wrapped.db >/dev/null 2>&1
is "the next sweep removes a dead one's files" "$(ls wrapped.db.work)" lock

# ---- the real fault ----
experiment faulty.yaml "faulty, noisy" 1
sweep faulty.yaml --store faulty.db >told 2>&1
is "a faulty kernel: status" $? 1
check "a faulty kernel is told" grep -q "faulty .*a kernel did not finish: .*'faults': out-of-bounds" told
"$heddle" query faulty.db workload=faulty --show error --csv >error
check "a faulty kernel is kept" grep -q "'faults': out-of-bounds 4-byte store" error

# ---- logs on a terminal ----
key=$("$heddle" query faulty.db workload=noisy --show key --csv | tail -n 1)
"$heddle" query faulty.db --run "$key" >log
check "escape characters are visible" grep -qF 'a red ^[[31m error^[[0m ^G of the program' log
check "and are not there" bash -c '! grep -q $(printf "\\033") log'
"$heddle" query faulty.db --show error >log
check "in tables too" bash -c 'grep -qF "^[[31m" log && ! grep -q $(printf "\\033") log'

# ---- filters ----
"$heddle" query wrapped.db 'ipc>1e999' >told 2>&1
is "a number that is none: status" $? 2
check "a number that is none" grep -q "'1e999' is larger than any number" told

# ---- damaged files ----
experiment gather.yaml "quick" 1
key=$(sweep gather.yaml --dry-run --json | grep -o '"key": "[0-9a-f]*"' | cut -d'"' -f4)
for damage in empty cut end; do
    rm -rf gather.db*
    mkdir gather.db.work
    echo '0 1.000 1000000 here' >"gather.db.work/$key.end"
    case $damage in
    empty) : >"gather.db.work/$key.json" ;;
    cut) echo '{"schema": 1, "kernels": [' >"gather.db.work/$key.json" ;;
    end) : >"gather.db.work/$key.end" ;;
    esac
    sweep gather.yaml --store gather.db >told 2>&1
    is "$damage: status" $? 0
    check "$damage: the run is made again" grep -q '1 runs made, 0 were in gather.db, 0 failed' told
    is "$damage: nothing stays" "$(ls gather.db.work)" lock
done
for at in 0 60 68; do # the magic, the schema, the application
    cp gather.db damaged.db
    printf '\377\377\377\377' | dd of=damaged.db bs=1 seek=$at conv=notrunc 2>/dev/null
    for command in "report damaged.db gather.yaml" "query damaged.db" "sweep gather.yaml --store damaged.db" \
        "reproduce gather.yaml --store damaged.db" "sweep gather.yaml -n --store damaged.db"; do
        timeout 60 "$heddle" $command >told 2>&1
        is "damaged at $at: $command: status" $? 2
        check "damaged at $at: $command: says so" grep -Eq 'damaged.db is (not a store|damaged)' told
    done
done

# ---- descriptions that are not read ----
mkdir loose
cp workloads/quick/workload.yaml loose/mine.yaml
HEDDLE_WORKLOADS=$out/loose "$heddle" list workloads >told 2>&1
is "a loose description: status" $? 0
check "a loose description is told of" grep -q 'warning: .*loose/mine.yaml is not read' told

[ $failures -eq 0 ] && echo "sweeps leave nothing behind"
exit $((failures > 0))
