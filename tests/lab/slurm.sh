#!/usr/bin/env bash
# slurm.sh HEDDLE: a sweep through a real Slurm (slurm.bash): an array's task is cancelled and made again, the
# head is killed and started again, runs follow from the results of others, and the results are those of a
# sweep on this machine. Leaves no process behind.
set -uo pipefail
heddle=$1
out=$(mktemp -d)
. "$(dirname "$0")/bench.bash"
. "$(dirname "$0")/slurm.bash"
if ! missing=$(slurm_have); then
    echo "SKIPPED: no $missing: sweeps on Slurm are NOT tested here"
    echo "(Debian: slurmctld slurmd slurm-client munge)"
    rm -rf "$out"
    exit 77
fi
head_pid=
end() {
    [ -n "$head_pid" ] && kill -9 "$head_pid" 2>/dev/null
    slurm_stop
    rm -rf "$out"
}
trap end EXIT
trap 'exit 1' INT TERM
cd "$out" || exit 1
slurm_start || { echo "FAILED: Slurm does not start"; exit 1; }

make_workload slow "sleep 2; $(real)"
make_workload quick "$(real)"
make_workload wrong "echo 'wrong: error: 3 of 10 values differ' >&2; exit 1"
# It is the run that ends first when a task is cancelled: that must not pass for its result.
make_workload terminated 'kill -TERM $$'
make_workload doomed 'scancel "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; sleep 60'
sweep() { timeout -k 10 100 "$heddle" sweep "$@"; }
wait_for() { # wait_for WHAT COMMAND...: up to 20 s
    local what=$1
    shift
    for _ in $(seq 100); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.2
    done
    echo "FAILED: waited for $what, which did not happen"
    failures=$((failures + 1))
}
running_task() { squeue -h -r -t running -o %i | head -n 1 | grep .; }
statistics() { "$heddle" query "$1" --csv --sql \
    "SELECT key, name, value FROM stats WHERE name NOT LIKE 'host.%' ORDER BY key, name"; }

# ---- cancelled in the middle; the head killed in the middle ----
experiment main.yaml "slow" 6
"$heddle" sweep main.yaml --store main.db --slurm="-p short --time=10" >first 2>&1 &
head_pid=$!
wait_for "two runs that have begun" eval '[ "$(wc -l <runs.started)" -ge 2 ]'
task=$(running_task)
scancel "$task"
wait_for "the cancelled task $task to be submitted again" grep -q \
    "task $task: CANCELLED; submitting it again" first
# Six runs are two arrays here; the head says what it will do before it does it, and is to be killed after
# that.
wait_for "the third array" eval '[ "$(squeue -h -t all -o %F | sort -u | wc -l)" -ge 3 ]'
kill -9 $head_pid
wait $head_pid 2>/dev/null
head_pid=
check "the head's jobs are noted" [ -s main.db.work/slurm.jobs ]
check "the jobs go on without the head" running_task
jobs_before=$(squeue -h -t all -o %F | sort -u | wc -l)
sweep main.yaml --store main.db --slurm="-p short --time=10" >second 2>&1
is "the second head: status" $? 0
check "the second head: all are there" grep -Eq ' 0 failed; ' second
is "all runs are done" "$(count done main.yaml main.db)" 6
is "nothing is submitted twice: arrays" "$(squeue -h -t all -o %F | sort -u | wc -l)" "$jobs_before"
is "nothing is submitted twice: runs" "$(wc -l <runs.started)" 7
is "no array is above MaxArraySize" "$(squeue -h -r -t all -o %K | awk '$1 > 3' | wc -l)" 0
is "the folder is empty again" "$(find main.db.work -type f ! -name lock | wc -l)" 0
sweep main.yaml --store local.db >local 2>&1
is "the same here: status" $? 0
statistics main.db >main.csv
statistics local.db >local.csv
check "the same here: there are statistics" [ "$(wc -l <main.csv)" -gt 600 ]
check "the same here: equal statistics" cmp main.csv local.csv

# ---- runs that fail, tasks that Slurm loses ----
experiment fail.yaml "wrong, doomed, terminated, quick" 1
: >runs.started
sweep fail.yaml --store fail.db --slurm >told 2>&1
is "failures: status" $? 1
cp told lost
check "failures: the sum" grep -q '1 runs made, 0 were in fail.db, 3 failed' told
check "failures: the program's error" grep -q 'wrong .*3 of 10 values differ' told
check "failures: a lost task's reason" grep -Eq \
    'doomed .*Slurm: task [0-9]+_[0-9]+: CANCELLED; submitted 4 times' told
check "failures: a run that a signal ended" grep -Eq \
    'terminated .*Slurm: task [0-9]+_[0-9]+: [A-Z_]+; submitted 4 times' told
is "failures: a failing run is made once" "$(grep -c '^wrong' runs.started)" 1

# ---- stages: runs that the results of others decide ----
cat >stages.yaml <<'END'
machine: fermi
set: {sm.count: 2}
size: tiny
workloads: [quick]
columns:
  base: {mech: gto}
  SWL: {mech: swl, over: {swl.warps: [2, 24]}, best: ipc}
  PCAL-SWL: {mech: pcal, mech_set: {pcal.start_n: 'chosen(SWL, swl.warps)', pcal.window: 2000}}
  np: {mech: tuple, over: {tuple.n: [1, 4]}, mech_set: {tuple.p: 1}}
  Best: {of: np, best: -cycles, per: kernel, mech: tuple, into: {tuple.file: [tuple.n, tuple.p]}}
measures:
  speedup: base.cycles / cycles
figures:
  - {id: a, columns: [PCAL-SWL, Best], measures: speedup}
END
: >runs.started
sweep stages.yaml --store stages.db --slurm --slurm-detach >told 2>&1
is "stages, detached: status" $? 0
check "stages, detached: those that are known" grep -Eq '5 runs are Slurm.s: ' told
sweep stages.yaml --store stages.db --slurm >told 2>&1
is "stages: status" $? 0
cp told staged
check "stages: none failed" grep -q ' 0 failed; ' staged
is "stages: all runs are done" "$(count done stages.yaml stages.db)" 7
is "stages: each run once" "$(wc -l <runs.started)" 7
sweep stages.yaml --store staged-here.db >told 2>&1
is "stages: the same here: status" $? 0
statistics stages.db >main.csv
statistics staged-here.db >local.csv
check "stages: equal statistics" cmp main.csv local.csv

# ---- refused, detached, no Slurm ----
experiment quick.yaml "quick" 2
sweep quick.yaml --store refused.db --slurm="-p nowhere" >told 2>&1
is "refused: status" $? 1
check "refused: sbatch's words" grep -qi 'error: sbatch: .*invalid partition' told
is "refused: no lease is left" "$(count 'to make' quick.yaml refused.db)" 2
sweep quick.yaml --store detach.db --slurm --slurm-detach >told 2>&1
is "detached: status" $? 0
check "detached: says what goes on" grep -Eq '2 runs are Slurm.s: .* scancel [0-9]+ ends them' told
sweep quick.yaml --store detach.db --slurm >told 2>&1
is "detached: gathered" "$(count done quick.yaml detach.db)" 2
timeout 60 env PATH="$out" "$heddle" sweep quick.yaml --store none.db --slurm >told 2>&1
is "no Slurm: status" $? 1
check "no Slurm: says so" grep -q 'Slurm does not answer' told

slurm_stop
for name in munged slurmctld slurmd; do
    check "$name has ended" bash -c \
        "! kill -0 \$(cat '$out/slurm/$name.pid' 2>/dev/null || echo 0x) 2>/dev/null"
done
check "no run is left" nobody_left
[ $failures -eq 0 ] && echo "sweeps on Slurm: all as it should be"
[ $failures -eq 0 ] || { tail -n 8 first second lost staged told; false; }
