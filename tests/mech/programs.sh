#!/bin/bash
# programs.sh HEDDLE GRIDSYNC: a cooperative grid, which waits for all of its CTAs, ends beside each mechanism
# that throttles or exchanges CTAs; a program that one of them cannot run is refused with what it lacks.
set -u
heddle=$1 gridsync=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
    echo "FAILED: $*"
    cat "$work/out"
    failures=$((failures + 1))
}
run() { timeout 120 "$heddle" run -q "$@" >"$work/out" 2>&1; }

# eight CTAs on two SMs whose registers hold four each: FineReg's ACRF has room for two
tight="-m maxwell --set sm.count=2 --set sm.registers=12288"
while read -r mech settings; do
    # shellcheck disable=SC2086 # words of their own
    run $tight --mech "$mech" $settings -- "$gridsync" && grep -q ': PASS$' "$work/out" ||
        fail "a cooperative grid beside $mech"
done <<'MECHS'
linebacker --mech-set linebacker.window=200 --mech-set linebacker.first_row=16
vt
regdram --mech-set regdram.stall_cycles=0
regmutex
finereg --mech-set finereg.acrf=24K --mech-set finereg.pcrf=24K --mech-set finereg.stall_cycles=0
MECHS

# STATUS WORDS WORKLOAD OPTION...
refused() {
    local wanted=$1 words=$2 status=0
    shift 2
    run "$@" --size tiny -m maxwell || status=$?
    [ $status -eq "$wanted" ] && grep -q "$words" "$work/out" || fail "$*: status $status, not '$words'"
}
# what is known before the program starts
refused 2 "finereg.acrf 65536 and finereg.pcrf 131072 make 196608 bytes, the register file has 262144" \
    atax --mech finereg --mech-set finereg.acrf=64K
refused 2 "'finereg' and 'vt' both decide which CTAs become resident" atax --mech finereg,vt
refused 2 "'linebacker' and 'cerf' both own" atax --mech linebacker,cerf
refused 2 "the register file has 703 rows" atax --mech linebacker --set sm.registers=22496
# what a kernel shows
refused 1 "a CTA needs 4096 registers, the ACRF has 256: 3840 too few" atax --mech finereg \
    --mech-set finereg.acrf=1K --mech-set finereg.pcrf=255K
refused 1 "130 registers a thread, a live-register vector 64 bits: set finereg.vector_bits to 192" myocyte \
    --mech finereg
refused 1 "a section of [0-9]* registers does not fit a pool of 0 rows" atax --mech regmutex \
    --mech-set regmutex.srp=0
refused 1 "a warp waits at the barrier at PC [0-9]* with a section" srad2 --mech regmutex \
    --mech-set regmutex.base=0.3

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
