#!/usr/bin/env bash
# words.sh HEDDLE FOLDER: what a user is told by programs of FOLDER that need something unusual: a kernel that
# cannot run, a block whose registers do not fit, a compute capability above the machine's.
set -euo pipefail
heddle=$1 folder=$2
run() { "$heddle" run --functional --quiet "$@" 2>&1; }
fail() { echo "FAILED: $1"; printf '%s\n' "$2"; exit 1; }
# count TEXT PATTERN TIMES: TIMES lines of TEXT match
count() { [ "$(grep -c -- "$2" <<<"$1" || true)" -eq "$3" ] || fail "$3 lines with '$2'" "$1"; }

out=$(run -- "$folder/program_refused")
count "$out" "^heddle: note: .*: 1 of 2 kernels cannot run and will be refused when launched: 'tensor' \
(tensor cores are not modelled)$" 1
count "$out" "^heddle: launch of tensor refused: tensor cores are not modelled (grid 1,1,1, block 32,1,1)$" 1
count "$out" ": error: instruction 'wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32' is not supported$" 1
count "$out" "refused: PASS" 1

# The commands that take PTX refuse the kernel too, and show the others.
ptx=$(dirname "$0")/refused.ptx
out=$("$heddle" disasm "$ptx" 2>&1) && fail "disasm: exit status" "$out"
count "$out" "^heddle: error: kernel 'tensor' has no machine code: tensor cores are not modelled$" 1
count "$out" "st.32" 1
out=$("$heddle" kernel "$ptx" tensor --grid 1 --block 32 --arg 'buf:f32[256]' 2>&1) &&
    fail "kernel: exit status" "$out"
count "$out" "^heddle: kernel 'tensor' cannot be launched: tensor cores are not modelled$" 1

for mode in --functional -q; do
    out=$("$heddle" run $mode --quiet -m fermi -- "$folder/program_registers" 2>&1)
    count "$out" "^heddle: note: kernel 'registers' needs [0-9]* registers a thread, [0-9]* for a block of \
1024 threads; an SM of fermi has 32768: lowered again with 3[0-2] ([0-9]* bytes spilled), as a build for \
this machine would be$" 1
    count "$out" "^heddle: note: " 1 # 512 threads fit, or share a variant
    count "$out" "registers: PASS" 1
done
out=$(run -m maxwell -- "$folder/program_registers")
count "$out" "^heddle:" 0
count "$out" "registers: PASS" 1

while read -r machine options seen; do
    # shellcheck disable=SC2086 # -none stands for no word
    out=$(run -m "$machine" ${options//-none/} -- "$folder/program_capability")
    count "$out" "^compute capability $seen$" 1
done <<'END'
fermi -none 7.5
fermi --set=device.cc_exact=true 2.0
kepler --set=device.cc_exact=true 3.5
maxwell -none 7.5
maxwell --set=device.cc_exact=true 5.2
rtx3080 -none 8.6
h200 -none 9.0
END
echo "words: PASS"
