#!/bin/bash
# shared_rows.sh HEDDLE [WORKLOAD...]: FineReg and Linebacker together, on two SMs with a small register file,
# so that CTAs change often: lines lie in rows that hold no registers, each workload checks its results, and
# its hash depends neither on threads nor on what is skipped.
set -eu
heddle=$1
shift
[ $# -gt 0 ] || set -- bfs spmv cfd
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# WORKLOAD OPTION...
both() {
    "$heddle" run "$@" --size tiny -m maxwell --mech finereg,linebacker --set sm.count=2 \
        --set sm.registers=32768 --mech-set finereg.acrf=64K --mech-set finereg.pcrf=64K \
        --mech-set linebacker.throttle=false --mech-set linebacker.select=false -q --stats "$work/s.json" \
        >"$work/log" 2>&1 ||
        { echo "$* fails:"; cat "$work/log"; exit 1; }
}
# NAME: a statistic of the whole run.
stat() { grep -o "\"$1\":[0-9][0-9]*" "$work/s.json" | tail -1 | grep -o '[0-9]*$'; }
hash() { grep -o '"hash":"[0-9a-f]*"' "$work/s.json" | tail -1; }

for workload; do
    both "$workload" --threads 1
    first=$(hash) moved=$(stat finereg.rows_out) hits=$(stat linebacker.hits)
    [ "$moved" -gt 0 ] && [ "$hits" -gt 0 ] ||
        { echo "FAILED: $workload: $moved rows moved, $hits lines found: this tests nothing"; exit 1; }
    for options in "--threads 1 --no-skip" "--threads 2 --threads-always" "--threads 3 --threads-always"; do
        # shellcheck disable=SC2086 # words of its own
        both "$workload" $options
        [ "$(hash)" = "$first" ] || { echo "FAILED: $workload $options: $(hash), not $first"; exit 1; }
    done
    echo "$workload: $moved rows moved, $hits lines found"
done
