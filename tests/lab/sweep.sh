#!/usr/bin/env bash
# sweep.sh HEDDLE: sweeps on this machine: the list, failures, Ctrl-C, kill -9, two at once, the terminal.
set -uo pipefail
heddle=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/bench.bash"
cd "$out" || exit 1
make_workload quick "$(real)"
make_workload slow "sleep 1; $(real)"
make_workload endless "sleep 300; $(real)"
make_workload wrong \
    "[ -e '$out/mended' ] || { echo 'wrong: error: 3 of 10 values differ' >&2; exit 1; }; $(real)"
make_workload crash 'kill -SEGV $$'
make_workload silent 'exit 0'
make_workload killed 'kill -KILL $$' # as the kernel does when memory is short
make_workload poor "ulimit -v 100000; $(real)"
make_workload late 'ulimit -S -t 1; while :; do :; done'
sweep() { timeout -k 10 100 "$heddle" sweep "$@"; }

# ---- the list ----
experiment list.yaml "quick, slow" 2
sweep list.yaml --dry-run >list 2>&1
is "dry run: status" $? 0
is "dry run: a line a run" "$(grep -c '^to make' list)" 4
check "dry run: the sum" grep -q '^4 runs: 0 in the store, 0 failed, 0 running elsewhere, 4 to make' list
check "dry run: makes no store" [ ! -e results.db ]
sweep >none 2>&1
is "no experiment: status" $? 2
sweep nowhere.yaml >none 2>&1
is "no such experiment: status" $? 2
is "dry run: nothing too wide" "$(awk 'length($0) > 80' list | wc -l)" 0
sweep list.yaml --size huge >none 2>&1
is "no such size: status" $? 2
check "no such size: what there is" grep -q 'hint: it has tiny' none
sweep list.yaml --slurm="-p 'x" >none 2>&1
is "--slurm with half a quote: status" $? 2

# ---- failures are kept, and do not stop the others ----
experiment fail.yaml "wrong, crash, quick, silent, killed, poor, late" 1
sweep fail.yaml --store fail.db >told 2>&1
is "failures: status" $? 1
check "failures: the sum" grep -q '1 runs made, 0 were in fail.db, 6 failed' told
check "failures: the program's error" grep -q 'wrong .*3 of 10 values differ' told
check "failures: a crash" grep -q 'crash .*signal 11' told
check "failures: a run without statistics" grep -q 'silent .*no statistics' told
check "failures: killed for want of memory" grep -q 'killed .*signal 9 .*is there enough memory' told
check "failures: no memory to begin with" grep -Eq 'poor .*(exit status|signal)' told
"$heddle" query fail.db workload=poor --show log --csv >poor.log
check "failures: the log says so" grep -Eq 'cannot reserve .* memory|Sanitizer|ShadowMemory' poor.log
check "failures: out of time" grep -q 'late .*signal 24 .*time limit' told
is "failures: in the store" "$(count failed fail.yaml fail.db)" 6
"$heddle" query fail.db state=failed --show workload,command --csv >commands
for w in wrong crash silent killed poor late; do
    check "failures: $w keeps its command" grep -q "^$w,heddle run $w --size tiny -m fermi" commands
done
before=$(wc -l <runs.started)
sweep fail.yaml --store fail.db >told 2>&1
is "failures: status of the second time" $? 1
is "failures: not made again" "$(wc -l <runs.started)" "$before"
touch mended
sweep fail.yaml --store fail.db --again --json >told.json 2>/dev/null
is "--again: status" $? 1
check "--again: the mended one is made" grep -q '"made": 1, "had": 1, "failed": 5' told.json
check "--again: a failure with its command" grep -q '"workload": "crash".*"command": "heddle run crash' \
    told.json

# ---- Ctrl-C ----
experiment stop.yaml "quick, endless" 1
: >runs.started
timeout -k 30 --preserve-status -s INT 4 "$heddle" sweep stop.yaml --store stop.db -j 2 >told 2>&1
is "Ctrl-C: status" $? 130
check "Ctrl-C: says how to go on" grep -q 'the same command goes on' told
check "Ctrl-C: the runs have ended" nobody_left
is "Ctrl-C: finished ones are kept" "$(count done stop.yaml stop.db)" 1
is "Ctrl-C: no lease is left" "$(count 'to make' stop.yaml stop.db)" 1
is "Ctrl-C: no file is left" "$(find stop.db.work -name '*.json' -o -name '*.end' -o -name '*.log' | wc -l)" 0

# ---- Ctrl-C twice ----
# Two signals in a row count as one: timeout and job systems signal a process and then its group.
interrupt() { # interrupt STORE PAUSE: a sweep of stop.yaml gets two signals this far apart
    : >runs.started
    "$heddle" sweep stop.yaml --store "$1" -j 2 >told 2>&1 &
    local sweep=$!
    until grep -q endless runs.started; do sleep 0.1; done
    kill -INT $sweep
    sleep "$2"
    kill -INT $sweep 2>/dev/null
    wait $sweep
}
for pause in 0 0.01 0.03; do
    interrupt "twice$pause.db" $pause
    is "twice, $pause s apart: status" $? 130
    check "twice, $pause s apart: says how to go on" grep -q 'the same command goes on' told
    check "twice, $pause s apart: the runs have ended" nobody_left
done

# ---- kill -9 ----
experiment kill.yaml "slow" 6
: >runs.started
{ timeout -s KILL 3.7 "$heddle" sweep kill.yaml --store kill.db -j 1 >told 2>&1; } 2>/dev/null
check "kill -9: the runs have ended" nobody_left
kept=$(count done kill.yaml kill.db)
check "kill -9: finished ones are kept ($kept)" [ "$kept" -ge 1 ]
is "kill -9: the others are to be made" "$(count 'to make' kill.yaml kill.db)" $((6 - kept))
: >runs.started
sweep kill.yaml --store kill.db >told 2>&1
is "kill -9: it goes on: status" $? 0
# A run that had ended when the sweep was killed, and was not in the store yet, is gathered.
made=$(wc -l <runs.started)
check "kill -9: it goes on" grep -q "$made runs made, $((6 - made)) were in kill.db, 0 failed" told
check "kill -9: no run is made twice ($made)" [ "$made" -le $((6 - kept)) ]
check "kill -9: what was lost is made ($made)" [ "$made" -ge $((5 - kept)) ]

# What was finished and not yet in the store when the sweep was killed.
experiment gather.yaml "quick" 1
mkdir gather.db.work
key=$(sweep gather.yaml --dry-run --json | grep -o '"key": "[0-9a-f]*"' | cut -d'"' -f4)
printf '%s\t%s\t%s\trun\tquick\t--size\ttiny\t-m\tfermi\t--quiet\t--stats\t%s\n' "$key" \
    "$out/gather.db.work/p.json" "$heddle" \
    "$out/gather.db.work/p.json" >gather.db.work/a.list
SLURM_ARRAY_TASK_ID=1 sweep --task "$out/gather.db.work/a.list"
is "a finished run: status of its task" $? 0
check "a finished run has its end" grep -Eq '^0 [0-9.]+ [1-9][0-9]* ' "gather.db.work/$key.end"
: >runs.started
sweep gather.yaml --store gather.db >told 2>&1
check "a finished run is gathered" grep -q '0 runs made, 1 were in gather.db, 0 failed' told
is "a finished run is not made again" "$(wc -l <runs.started)" 0
check "a finished run leaves no files" [ ! -e "gather.db.work/$key.end" ] &&
    [ ! -e "gather.db.work/$key.json" ]

# ---- two at once ----
experiment two.yaml "slow" 6
: >runs.started
sweep two.yaml --store two.db -j 1 >one.told 2>&1 &
first=$!
sweep two.yaml --store two.db -j 1 >two.told 2>&1
second=$?
wait $first
first=$?
[ $first$second = 00 ] || cat one.told two.told
is "two sweeps: status of the first" $first 0
is "two sweeps: status of the second" $second 0
is "two sweeps: each run once" "$(wc -l <runs.started)" 6
is "two sweeps: all are there" "$(count done two.yaml two.db)" 6
for t in one.told two.told; do check "two sweeps: both made some ($t)" grep -Eq ' [1-5] runs made, ' $t; done

# ---- a terminal ----
if ! command -v script >/dev/null; then
    echo "SKIPPED: there is no script (util-linux) to make a terminal: the bar is not looked at"
    [ $failures -eq 0 ] && exit 77
    exit 1
fi
for columns in 100 50; do
    rm -rf bar.db bar.db.work
    TERM=xterm script -qec \
        "stty cols $columns rows 24; timeout --foreground 60 '$heddle' sweep kill.yaml --store bar.db -j 2" \
        /dev/null \
        </dev/null >screen 2>&1
    # every frame begins with the cursor moved up; what was drawn, a line each
    tr -d '\r' <screen | sed 's/\x1b\[[0-9]*A\x1b\[J/\n@\n/g' >frames
    check "$columns columns: drawn again and again" [ "$(grep -c '^@' frames)" -ge 6 ]
    check "$columns columns: done and all" grep -Eq '[1-5]/6, .*left [0-9]+:[0-9]+$' frames
    check "$columns columns: a line a worker" grep -Eq \
        '^ +[0-9]+:[0-9]+ +(of [0-9:]+ +)?slow +tiny +(base|more[1-5])$' frames
    is "$columns columns: nothing too wide" \
        "$(sed '/runs made/,$d' frames | awk -v n="$columns" 'length($0) >= n' | wc -l)" 0
    check "$columns columns: the bar is gone at the end" bash -c \
        "sed -n '/runs made/{x;p;d};x' frames | grep -q '^$\|^@'"
done
TERM=xterm script -qec "stty cols 100; '$heddle' sweep list.yaml --store b.db" /dev/null </dev/null >frames
check "a wide terminal has a bar" grep -q '\[##*\.*\]\|\[\.\.*\]' frames

# ---- figures as Markdown ----
"$heddle" report b.db list.yaml --tables tables.md >none 2>&1
is "tables: status" $? 0
check "tables: a title" grep -q '^# Figures as tables' tables.md
check "tables: a row a workload" grep -Eq '^[|] quick [|] -?[0-9.]+%' tables.md
check "tables: no page beside them" [ ! -e report.html ]
"$heddle" report b.db morpheus-cost linebacker-cost --tables claims.md >none 2>&1 # neither has runs
check "tables: the claims" grep -q "^| mo.cost | KiB per LLC partition | 21.00 | 21.7" claims.md
check "tables: not comparable" grep -q '^lb.cost.sm.mm2 is not comparable: ' claims.md
"$heddle" report b.db list.yaml --tables /nonexistent/tables.md >none 2>&1
is "tables: a file that cannot be written" $? 1
"$heddle" report b.db morpheus-cost linebacker-cost morpheus-cost --claims verdicts.md >none 2>&1
is "claims: status" $? 0
check "claims: where, what, the paper's number, ours, the verdict" \
    grep -q '^| 7.5 | mo.cost | KiB per LLC partition | 21.00 | 21.7.* | reproduced |$' verdicts.md
is "claims: each once" "$(grep -c '| mo.cost |' verdicts.md)" 1
check "claims: a section a paper" [ "$(grep -c '^## \(morpheus\|linebacker\)$' verdicts.md)" = 2 ]
check "claims: not comparable" grep -q '^lb.cost.sm.mm2 is not comparable: ' verdicts.md
"$heddle" report b.db list.yaml --claims /nonexistent/claims.md >none 2>&1
is "claims: a file that cannot be written" $? 1

[ $failures -eq 0 ] && echo "sweeps: all as it should be"
[ $failures -eq 0 ]
