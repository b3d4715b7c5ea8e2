#!/bin/bash
# residency.sh HEDDLE: the timeline of a run whose mechanism keeps CTAs without slots has the CTAs of an SM as
# counters, which add up to what the statistics say; that of another run has none.
set -eu
heddle=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# OPTION...: a run of convsep with a sample of the whole run, and the values of its counters.
counters() {
    "$heddle" run convsep --size tiny -m maxwell --set sm.count=1 --set sm.registers=16384 --sample 1000000 \
        --timeline "$work/t.json" --quiet --stats "$work/s.json" "$@" >"$work/out"
    grep -q ': PASS$' "$work/out"
}
# NAME: the first value of a counter.
value() { grep -o "\"name\":\"$1\",.*\"value\":[0-9.]*" "$work/t.json" | head -1 | sed 's/.*://'; }
# NAME: a statistic of the whole run.
stat() { grep -Eo "\"$1\": *[0-9.]+" "$work/s.json" | tail -1 | sed 's/.*: *//'; }

counters
! grep -q 'CTAs of an SM' "$work/t.json" || { echo "FAILED: counters of CTAs without a mechanism"; exit 1; }
counters --mech finereg --mech-set finereg.acrf=32K --mech-set finereg.pcrf=32K
awk -v active="$(value 'CTAs of an SM: active')" -v pending="$(value 'CTAs of an SM: pending')" \
    -v saved="$(value 'CTAs of an SM: pending, registers saved')" -v all="$(stat sm.cta_cycles)" \
    -v cycles="$(stat sm.active_cycles)" -v mean="$(stat sm.pending_ctas)" 'BEGIN {
    ctas = all / cycles
    if (active + pending < ctas * 0.999 || active + pending > ctas * 1.001) bad = "do not add up"
    if (pending < mean * 0.999 || pending > mean * 1.001) bad = "are not sm.pending_ctas"
    if (saved <= 0 || saved > pending) bad = "with saved registers are more than the pending ones"
    if (bad) { print "FAILED: CTAs " bad ": " active, pending, saved " of " ctas; exit 1 } }'
echo "active and pending CTAs are the resident ones"
