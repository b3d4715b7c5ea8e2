#!/usr/bin/env bash
# refusals.sh HEDDLE FOLDER: programs built by nvcc that Heddle cannot run as a whole: what each refusal says.
# Exit 77 = skipped, no nvcc here.
set -euo pipefail
heddle=$1 folder=$2
cd "$(dirname "$0")"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "SKIPPED: nvcc is not installed, no refusals of its programs were tested"; exit 77; }
binary=$folder/refusals
build() { "$nvcc" -Wno-deprecated-gpu-targets -o "$binary" "$@"; }
run() { "$heddle" run --functional --quiet -m fermi -- "$binary" 2>&1 || true; }
# has TEXT PATTERN
has() { grep -q -- "$2" <<<"$1" || { echo "FAILED: no '$2' in:"; printf '%s\n' "$1"; exit 1; }; }

build -rdc=true -arch=sm_75 device_launch.cu -lcudadevrt
out=$(run)
has "$out" "kernels cannot run and will be refused when launched: '_Z6parentPi' (launches from the device \
are not modelled)$"
has "$out" "^heddle: launch of _Z6parentPi refused: launches from the device are not modelled (grid"
has "$out" "is part of the device-side CUDA runtime (dynamic parallelism), which is not supported$"
has "$out" "device_launch: PASS"

build -arch=sm_75 graph.cu
out=$(run)
has "$out" "^heddle: cu.*StreamBeginCapture.* is not supported: CUDA graphs are not modelled; launch the \
kernels one by one instead$"
has "$out" "^heddle: cu.*GraphCreate is not supported: CUDA graphs are not modelled"
has "$out" "graph: PASS"

build -gencode arch=compute_75,code=sm_75 ../capability.cu
has "$(run)" "error: holds machine code of a real GPU but no PTX$"

build -gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90 ../capability.cu
has "$(run)" "^compute capability 8.0$"

libraries=$(dirname "$nvcc")/../lib64
if [ -e "$libraries/libcufft.so" ]; then
    build -arch=sm_75 fft.cu -L"$libraries" -lcufft
    has "$(LD_LIBRARY_PATH=$libraries run)" "^libcufft.so.*: note: this library ships machine code of \
real GPUs without PTX"
else
    echo "cuFFT is not installed: its refusal was not tested"
fi
echo "refusals: PASS"
