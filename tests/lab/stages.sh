#!/usr/bin/env bash
# stages.sh HEDDLE: sweeps whose runs follow from results: conditions, settings that a column chose, tables of
# what was best for each kernel, and runs after them; stopped between stages, gone on with, reported.
set -uo pipefail
heddle=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/bench.bash"
cd "$out" || exit 1
make_workload quick "$(real)"
cat >stages.yaml <<'END'
machine: fermi
set: {sm.count: 2}
size: tiny
workloads: [quick]
columns:
  base: {mech: gto}
  SWL: {mech: swl, over: {swl.warps: [2, 24]}, best: ipc}
  PCAL-SWL: {mech: pcal, mech_set: {pcal.start_n: 'chosen(SWL, swl.warps)', pcal.window: 2000}}
  np: {mech: tuple, over: {tuple.n: [1, 4, 64], tuple.p: [1, 4]},
       where: [tuple.p <= tuple.n, 'tuple.n <= base.resident.warps / 2']}
  Best: {of: np, best: -cycles, per: kernel, mech: tuple, into: {tuple.file: [tuple.n, tuple.p]}}
  After: {mech: swl, over: {swl.warps: [3]}, where: 'Best.cycles > 0'}
measures:
  speedup: base.cycles / cycles
  start: param(pcal.start_n)
  chosen: SWL.param(swl.warps)
  accesses: "kernel(1).l1.load_accesses"
figures:
  - {id: a, columns: [PCAL-SWL], measures: [start, chosen]}
  - {id: b, columns: [Best], measures: [speedup, accesses]}
  - {id: c, draw: heatmap, workload: quick, kernel: [Kernel2, 2], axes: [tuple.n, tuple.p], columns: np,
     measures: speedup}
END
sweep() { timeout -k 10 100 "$heddle" sweep stages.yaml --store s.db "$@"; }

sweep --dry-run >told 2>&1
is "before: status" $? 0
check "before: what is known" grep -q '^3 runs: 0 in the store, .* 3 to make' told
check "before: what is not" grep -q '^and up to 8 more that their results decide' told

# ---- one stage at a time: the runs of the first are made by an experiment that shares them ----
sed -e '/PCAL-SWL/d' -e '/  np:/,/  After:/d' -e '/  start:/d' -e '/figures:/,$d' stages.yaml >first.yaml
echo 'figures: [{id: f, measures: speedup}]' >>first.yaml
timeout -k 10 100 "$heddle" sweep first.yaml --store s.db >told 2>&1
is "first stage: status" $? 0
sweep --dry-run >told 2>&1
check "second stage: what is known" grep -q '^7 runs: 3 in the store, .* 4 to make' told
check "second stage: the table and what follows it wait" grep -q '^and up to 2 more' told

# ---- to the end, and again ----
sweep >told 2>&1
is "all: status" $? 0
check "all: the sum" grep -q 'heddle: 6 runs made, 3 were in s.db, 0 failed' told
sweep --json >told.json 2>/dev/null
check "again: nothing is made" grep -q '"made": 0, "had": 9, "failed": 0' told.json
check "the start is what SWL chose" awk '/^quick/ && NF == 3 { exit $2 != $3 }' <(sweep 2>/dev/null)
is "64 warps do not fit" "$("$heddle" query s.db mech=tuple --show with --csv | grep -c 'n=64')" 0
table=$(echo s.db.work/table-*.txt)
is "a line a launch" "$(grep -vc '^#' "$table")" \
    "$("$heddle" query s.db mech=pcal --show gpu.kernels --csv | tail -1)"
best=$("$heddle" query s.db with~table --show cycles --csv | tail -1)
"$heddle" query s.db mech=tuple --show cycles --csv >tuples
check "no other tuple is better than the best of each kernel" \
    awk -v best="$best" '/^[0-9]/ && $1 < best { exit 1 }' tuples

# ---- the folder is gone: a report makes the table again, and finds the run ----
rm -r s.db.work
"$heddle" report s.db stages.yaml --tables rows.md >told 2>&1
is "report: status" $? 0
check "report: nothing is missing" [ "$(grep -c 'missing' rows.md)" = 0 ]
check "report: the map" grep -q '^| tuple.p / tuple.n | 1 | 4 |' rows.md
[ "$failures" = 0 ]
