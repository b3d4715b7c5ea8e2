#!/usr/bin/env bash
# demo.sh: sets up, builds, and shows what Heddle does: a kernel, its machine code, a CUDA program with and
# without a clock, another scheduler, a fault, and an experiment with a paper's numbers beside ours and the
# page that it draws. The results stay in build/demo: the second time the experiment has all of its runs.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh
heddle_setup
echo "== building (release)"
heddle_build release
export PATH=$PWD/build/release/bin:$PATH

show() { printf '\n$ %s\n' "$*"; }
run() { show "$@"; "$@"; }

printf '\n== One kernel of a PTX file, no host program'
run heddle kernel examples/saxpy.ptx saxpy --grid 64 --block 256 --arg f32=2 --arg 'buf:f32[16K]=rand' \
    --arg 'buf:f32[16K]=iota' --arg s32=16384

printf '\n== Its machine code, beside the PTX'
show heddle disasm examples/saxpy.ptx
heddle disasm examples/saxpy.ptx | head -n 40

printf '\n== A CUDA program: the plain C build of tests/programs/nearest.cu, on the machine "fermi"'
run heddle run -m fermi -- build/release/bin/program_nearest

printf '\n== This program with another warp scheduler: the cycles of the kernel'
show "heddle run -m fermi --mech lrr -- build/release/bin/program_nearest"
heddle run -m fermi --mech lrr -- build/release/bin/program_nearest 2>&1 | grep -E 'PASS|cycles|IPC'

printf '\n== The suite: every benchmark of five papers, and one of them on two machines'
show heddle list workloads
heddle list workloads | sed -n 1,12p
show "heddle run cfd --size tiny -m fermi; ... -m maxwell"
for machine in fermi maxwell; do
    echo "$machine:"
    heddle run cfd --size tiny -m $machine 2>&1 | sed -n '/^total/,$p' |
        grep -E 'cycles|IPC|issue slots|  %|L1 access|DRAM bus'
done

printf '\n== Results only, no clock'
run heddle run --functional -m fermi -- build/release/bin/program_nearest

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ -x "$nvcc" ]; then
    printf '\n== The same program built by nvcc, CUDA runtime linked statically'
    run "$nvcc" -O3 -arch=sm_75 -Wno-deprecated-gpu-targets -o build/demo_nearest tests/programs/nearest.cu
    run heddle run -m fermi -- build/demo_nearest
else
    printf '\n(nvcc is not installed here, so no binary of it can be shown; Heddle does not need it)\n'
fi

printf '\n== A program that goes wrong is stopped, with the place of the error'
show heddle kernel tests/cli/bad.ptx past_end --grid 3 --block 32 --arg 'buf:s32[64]' --arg s32=1
heddle kernel tests/cli/bad.ptx past_end --grid 3 --block 32 --arg 'buf:s32[64]' --arg s32=1 || true

printf '\n== The machines'
run heddle list machines

printf '\n== An experiment, experiments/demo.yaml: its runs, its figures beside the numbers of a paper'
mkdir -p build/demo
page=build/demo/report.html
if [ -e build/release/share/heddle/report.html ]; then
    run heddle reproduce demo --store build/demo/results.db -o $page
    printf '\nOpen %s in a browser: the figures (hover, sort, filter), the\n' "$page"
    printf "paper's claims with their verdicts, and behind each bar its run: where the time\n"
    printf 'went, over time and load by load.\n'
else
    run heddle sweep demo --store build/demo/results.db
    printf '\n(There is no page: node and npm build it, and they were missing or had no network.\n'
    printf 'Install nodejs and npm and start again; everything else works without them.)\n'
fi
