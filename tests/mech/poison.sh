#!/bin/sh
# poison.sh HEDDLE [WORKLOAD...]: what FineReg does not save is lost (cta_park), and workloads compute the
# right results all the same: each checks its own. On one SM, with the smallest ACRF that holds a CTA of each
# kernel and no wait before a CTA counts as stalled, so that CTAs change often; a workload of one CTA has none
# to change. With no workload named, a quick part of the suite; `all` is every workload.
set -eu
heddle=$1
shift
[ $# -gt 0 ] || set -- bfs nw b+tree hotspot spmv
[ "$*" != all ] || set -- $("$heddle" list workloads --json | grep -o '"name": *"[^"]*"' | cut -d'"' -f4)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
workloads=0 unmoved= total=0
for workload; do
    sms=1
    [ "$workload" != bfs-parboil ] || sms=16 # its CTAs wait for each other
    for acrf in 8 12 16 20 24 28 32 40 48 64 96 128; do
        status=0
        "$heddle" run "$workload" --size tiny -m maxwell --mech finereg --set sm.count=$sms \
            --mech-set finereg.acrf=${acrf}K --mech-set finereg.pcrf=$((256 - acrf))K \
            --mech-set finereg.stall_cycles=0 --mech-set finereg.vector_bits=256 -q --stats "$out/s.json" \
            >"$out/log" 2>&1 || status=$?
        grep -q 'too few' "$out/log" || break
    done
    [ "$status" = 0 ] || { echo "$workload fails:"; cat "$out/log"; exit 1; }
    moved=$(grep -o '"finereg.rows_out":[0-9][0-9]*' "$out/s.json" | tail -1 | grep -o '[0-9]*$')
    echo "$workload: $moved rows moved, ACRF of $acrf KB"
    workloads=$((workloads + 1)) total=$((total + moved))
    [ "$moved" -gt 0 ] || unmoved="$unmoved $workload"
done
echo "$workloads workloads, $total rows moved; none in:$unmoved"
[ "$total" -gt 0 ] || { echo "no CTA left the register file: this tests nothing"; exit 1; }
