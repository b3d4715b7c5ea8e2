#!/usr/bin/env bash
# full.sh HEDDLE SOURCE_FOLDER: a write that fails is an error with the file's name and exit status 1,
# whichever command wrote, and leaves no half file: standard output and files on a full device, files past
# `ulimit -f`.
set -uo pipefail
heddle=$1
root=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
export ASAN_OPTIONS=detect_leaks=0
failures=0
fail() {
    echo "FAILED: $*"
    sed 's/^/    /' told 2>/dev/null | head -5
    failures=$((failures + 1))
}
[ -c /dev/full ] && [ -w /dev/full ] || { echo "SKIPPED: there is no /dev/full"; exit 77; }
ln -s /dev/full full # a fault that replaces the file would replace the link

cat >small.yaml <<'YAML'
title: Small
machine: fermi
size: tiny
workloads: [nn]
columns:
  base: {}
measures:
  ipc: ipc
figures:
  - id: speed
    title: Speed
    draw: bars
    measures: ipc
YAML
"$heddle" sweep small.yaml >/dev/null 2>&1 || fail "the sweep that makes the store"
key=$("$heddle" query results.db --show key --csv | tail -n 1)
"$heddle" kernel "$root/examples/saxpy.ptx" saxpy --grid 1 --block 32 --arg f32=2 --arg 'buf:f32[32]' \
    --arg 'buf:f32[32]' --arg s32=32 --stats whole.json --timeline line.json >/dev/null
timing=nbk=16:CCD=2:RRD=6:RCD=12:RAS=28:RP=12:RC=40:CL=12:WL=4:CDLR=5:WR=12:nbkgrp=4:CCDL=3:RTPL=2
printf -- '-gpgpu_n_clusters 15\n-gpgpu_dram_timing_opt %s\n' $timing >gpgpusim.config

saxpy=(kernel "$root/examples/saxpy.ptx" saxpy --grid 1 --block 32 --arg f32=2 --arg 'buf:f32[32]'
    --arg 'buf:f32[32]' --arg s32=32)
nn=(run nn --size tiny -m fermi)

# ---- standard output ----
stdout() { # stdout COMMAND...
    "$heddle" "$@" >/dev/full 2>told
    local status=$?
    [ $status -eq 1 ] && grep -q 'error: cannot write standard output' told ||
        fail "standard output of heddle $* (status $status)"
    [ -e report.html ] && rm report.html
}
stdout --help
stdout --version
for c in run kernel disasm list explain config sweep reproduce compare profile train map query report new; do
    stdout $c --help
done
for what in experiments machines mechanisms options params stats workloads; do
    stdout list $what
    stdout list $what --json
done
stdout list stats --markdown
stdout explain sm
stdout config dump
stdout config import gpgpusim.config
stdout disasm "$root/examples/saxpy.ptx"
stdout "${saxpy[@]}"
stdout "${saxpy[@]}" --json
stdout "${saxpy[@]}" --functional
stdout "${saxpy[@]}" --format gpgpusim
stdout query results.db
stdout query results.db --csv
stdout query results.db --json
stdout query results.db --legend
stdout query results.db --sql 'SELECT key FROM run'
stdout query results.db --run "$key"
stdout query results.db --run "$key" --json
stdout query results.db --run "$key" --document
stdout sweep small.yaml -n
stdout sweep small.yaml -n --json
stdout sweep small.yaml --json
stdout sweep small.yaml
stdout reproduce small.yaml --json
compare=(compare nn --mech none,lrr --size tiny -m fermi)
profile=(profile nn:tiny -m kepler --step 32 --cycles 1)
map=(map nn --size tiny -m kepler --step 32 --no-poise)
train=(train "$root/models/poise-kepler.profile")
stdout "${compare[@]}"
stdout "${compare[@]}" -n
stdout "${compare[@]}" --json
stdout "${profile[@]}"
stdout "${profile[@]}" -n
stdout "${map[@]}"
stdout "${map[@]}" --json
stdout "${train[@]}"
[ ! -e "$(dirname "$heddle")/../share/heddle/report.html" ] || stdout report small.yaml
stdout new mechanism mine
rm -rf mine

# ---- files on a full device ----
device() { # device COMMAND...
    "$heddle" "$@" >/dev/null 2>told
    local status=$?
    [ $status -eq 1 ] && grep -q 'cannot write full: No space left' told ||
        fail "heddle $* (status $status)"
}
device "${nn[@]}" --stats full
device "${nn[@]}" --timeline full
device "${nn[@]}" --functional --stats full
device "${saxpy[@]}" --stats full
device "${saxpy[@]}" --timeline full
device "${saxpy[@]}" --out 1=full
device config import gpgpusim.config -o full
device report small.yaml --tables full
device "${profile[@]}" -o full
device "${map[@]}" -o full
device "${train[@]}" -o full
[ ! -e "$(dirname "$heddle")/../share/heddle/report.html" ] || {
    device report small.yaml -o full
    device "${compare[@]}" -o full
}
"$heddle" "${nn[@]}" 2>/dev/full >/dev/null
[ $? -eq 1 ] || fail "a summary that did not reach standard error"
# a program's own status stays
"$heddle" run -m fermi --stats full -- "$(dirname "$heddle")/ends" exit5 2>/dev/null
[ $? -eq 5 ] || fail "the program's exit status is lost"

[ -L full ] && [ -c full ] || fail "the device was replaced"

# ---- files past the limit: what was there stays, and nothing else is left ----
limited() { # limited KIB NAME COMMAND...: it writes the file NAME
    local kib=$1 name=$2 status
    shift 2
    mkdir -p small
    echo before >small/"$name"
    (ulimit -f "$kib" && "$heddle" "$@") 2>&1 >/dev/null | cat >told
    status=${PIPESTATUS[0]}
    [ "$status" -eq 1 ] && grep -q "cannot write small/$name: File too large" told ||
        fail "past the limit: heddle $* (status $status)"
    [ "$(cat small/"$name")" = before ] || fail "past the limit: heddle $*: the file is changed"
    [ "$(ls small)" = "$name" ] || fail "past the limit: heddle $*: left $(ls small)"
    rm -rf small
}
limited 1 s.json "${nn[@]}" --stats small/s.json
limited 1 t.json "${nn[@]}" --timeline small/t.json
limited 1 s.json "${saxpy[@]}" --stats small/s.json
limited 1 b.bin kernel "$root/examples/saxpy.ptx" saxpy --grid 1 --block 32 --arg f32=2 --arg 'buf:f32[1K]' \
    --arg 'buf:f32[1K]' --arg s32=32 --out 1=small/b.bin
limited 0 m.yaml config import gpgpusim.config -o small/m.yaml
limited 0 m.model "${train[@]}" -o small/m.model
[ ! -e "$(dirname "$heddle")/../share/heddle/report.html" ] ||
    limited 64 r.html report small.yaml -o small/r.html
(ulimit -f 1 && "$heddle" new mechanism mine) >told 2>&1
[ $? -eq 1 ] && grep -q 'cannot write mine/mine.c: File too large' told || fail "new, past the limit"
[ -z "$(ls mine)" ] || fail "new left $(ls mine)"

# ---- the store ----
for kib in 16 100 150; do # it cannot be made; the run cannot write; the run cannot be kept
    (ulimit -f $kib && "$heddle" sweep small.yaml --store other.db) >told 2>&1
    [ $? -eq 1 ] && grep -Eq 'error: .*(File too large|disk I/O error)' told ||
        fail "a store past the limit of $kib KiB"
    rm -rf other.db*
done
"$heddle" sweep small.yaml --store other.db >/dev/null 2>&1 || fail "the sweep after it"

# ---- what cannot be written is said before the run ----
mkdir closed
chmod 500 closed
if ! touch closed/x 2>/dev/null; then
    "$heddle" "${nn[@]}" --stats closed/s.json >told 2>&1
    [ $? -eq 2 ] && grep -q 'stats: cannot write closed/s.json: Permission denied' told ||
        fail "a closed folder"
fi
ln -s real.json link.json
"$heddle" "${nn[@]}" -q --stats link.json >/dev/null 2>&1
[ -L link.json ] && [ -s real.json ] || fail "a link is followed"
"$heddle" "${nn[@]}" --stats /dev/stdout >both.txt 2>/dev/null
grep -q 'nn: PASS' both.txt && grep -q 'issue slots' both.txt || fail "standard output by its name"

[ $failures -eq 0 ] && echo "no write fails in silence"
exit $((failures > 0))
