#!/bin/sh
# poison.sh HEDDLE [WORKLOAD...]: what FineReg does not save is lost (cta_park), and workloads compute the
# right results all the same: each checks its own. On one SM with a small register file, so that CTAs change
# often. With no workload named, a quick part of the suite; `heddle list workloads` has all of them.
set -eu
heddle=$1
shift
[ $# -gt 0 ] || set -- bfs nw b+tree hotspot spmv
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
for workload; do
    moved=0
    for size in 16384:32K 32768:64K 65536:128K; do
        part=${size#*:}
        bits=64 sms=1
        case $workload in
        myocyte) bits=128 ;;
        bfs-parboil) sms=16 ;; # its CTAs wait for each other
        esac
        status=0
        "$heddle" run "$workload" --size tiny -m maxwell --mech finereg --set sm.count=$sms \
            --set "sm.registers=${size%:*}" --mech-set "finereg.acrf=$part" --mech-set "finereg.pcrf=$part" \
            --mech-set "finereg.vector_bits=$bits" -q --stats "$out/s.json" >"$out/log" 2>&1 || status=$?
        grep -q 'too few\|cannot be launched' "$out/log" || break
    done
    [ "$status" = 0 ] || { echo "$workload fails:"; cat "$out/log"; exit 1; }
    moved=$(grep -o '"finereg.rows_out":[0-9][0-9]*' "$out/s.json" | tail -1 | grep -o '[0-9]*$')
    echo "$workload: $moved rows moved"
    total=$((${total:-0} + moved))
done
[ "$total" -gt 0 ] || { echo "no CTA left the register file: this tests nothing"; exit 1; }
