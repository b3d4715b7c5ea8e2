#!/usr/bin/env bash
# warps.sh HEDDLE: workloads check their results on SMs of more than 64 warps; more than the schedulers hold
# is an error, and so is more local memory than the addresses of a warp have room for.
set -uo pipefail
heddle=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ASAN_OPTIONS=detect_leaks=0
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

room=(--set sm.threads=8192 --set sm.ctas=64 --set sm.registers=262144 --set sm.shared=256K --set sm.count=4)
for warps in 128 256; do
    for workload in atax bfs cfd dwt2d hotspot spmv; do
        "$heddle" run "$workload" --size tiny --quiet -m maxwell --set sm.warps=$warps "${room[@]}" \
            >"$folder/out" 2>&1 ||
            fail "$workload on $warps warps: $(tail -3 "$folder/out")"
        grep -q "$workload: PASS" "$folder/out" || fail "$workload on $warps warps did not check its result"
    done
done

refuse() { # refuse TEXT ARGUMENT...: status 2, and one error that begins with the text
    local text=$1
    shift
    "$heddle" run atax --size tiny --quiet "$@" >"$folder/out" 2>&1
    local status=$?
    [ $status = 2 ] || fail "$*: status $status"
    [ "$(grep -c 'error:' "$folder/out")" = 1 ] || fail "$*: not one error: $(cat "$folder/out")"
    grep -q "^$text" "$folder/out" || fail "$*: no '$text' in: $(cat "$folder/out")"
}
printf 'base: fermi\nsm:\n  warps: 200\n' >"$folder/mine.yaml"
printf 'base: fermi\nsm:\n  warps: 300\n' >"$folder/more.yaml"
refuse 'fermi: error: sm.warps is 129, but 2 schedulers of 64 warps hold 128' -m fermi --set sm.warps=129
refuse 'mine: error: sm.warps is 200, but 2 schedulers of 64 warps hold 128' -m "$folder/mine.yaml"
refuse '  hint: set sm.warps to at most 128, or sm.schedulers to at least 4' -m "$folder/mine.yaml"
refuse '--set:1:10: error: sm.warps must be a whole number from 1 to 256' -m fermi --set sm.warps=257
refuse "$folder/more.yaml:3:10: error: sm.warps must be a whole number from 1 to 256" -m "$folder/more.yaml"

# kernel_local BYTES: a kernel whose threads have that much local memory
kernel_local() {
    cat >"$folder/local.ptx" <<PTX
.version 7.0
.target sm_50
.address_size 64
.visible .entry local(.param .u64 out) {
    .local .align 4 .b8 room[$1];
    .reg .u64 %rd<4>;
    .reg .u32 %r<3>;
    ld.param.u64 %rd1, [out];
    mov.u64 %rd2, room;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd2, %rd2, %rd3;
    st.local.u32 [%rd2], %r1;
    ld.local.u32 %r2, [%rd2+128];
    st.global.u32 [%rd1], %r2;
    ret;
}
PTX
    "$heddle" kernel "$folder/local.ptx" local --grid 1 --block 32 --arg 'buf:u32[1]' -m fermi \
        >"$folder/out" 2>&1
}
kernel_local 524288 || fail "512 KB of local memory: $(tail -1 "$folder/out")"
kernel_local 524304 && fail "more than 512 KB of local memory ran"
grep -q "a thread needs 524304 bytes of local memory and stack, more than 524288" "$folder/out" ||
    fail "more than 512 KB of local memory: $(cat "$folder/out")"

[ "$failures" = 0 ] && echo "SMs of many warps: all right"
exit $((failures != 0))
