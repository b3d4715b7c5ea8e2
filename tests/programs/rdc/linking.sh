#!/usr/bin/env bash
# linking.sh HEDDLE FOLDER: builds a program of two translation units with -rdc=true, and vectoradd in each
# fatbin compression mode, and runs them. Exit 77 = skipped, no nvcc here.
set -euo pipefail
heddle=$1 folder=$2
cd "$(dirname "$0")"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "SKIPPED: nvcc is not installed, relocatable device code was not tested"; exit 77; }
check() {
    local out
    out=$("$heddle" run --functional --quiet -- "$2")
    echo "$3: $out"
    grep -q "$1: PASS" <<<"$out"
}
for runtime in shared static; do
    "$nvcc" -rdc=true -arch=sm_75 -cudart $runtime -Wno-deprecated-gpu-targets rdc_main.cu rdc_other.cu \
        -o "$folder/rdc_$runtime"
    check rdc "$folder/rdc_$runtime" "rdc, $runtime runtime"
done
for mode in speed size none; do
    "$nvcc" -arch=sm_75 -cudart shared --compress-mode=$mode -Wno-deprecated-gpu-targets ../vectoradd.cu \
        -o "$folder/vectoradd_$mode"
    check vectoradd "$folder/vectoradd_$mode" "fatbin compressed for $mode"
done
"$nvcc" -G -g -arch=sm_75 -cudart shared -Wno-deprecated-gpu-targets ../reduce.cu -o "$folder/reduce_debug"
check reduce "$folder/reduce_debug" "debug build (-G)"
"$nvcc" -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=compute_90 \
    -cudart shared -Wno-deprecated-gpu-targets ../scan.cu -o "$folder/scan_two"
check scan "$folder/scan_two" "cubin for sm_75 and PTX for compute_90"
"$nvcc" -arch=sm_75 --default-stream per-thread -cudart shared -Wno-deprecated-gpu-targets ../streams.cu \
    -o "$folder/streams_ptds"
check streams "$folder/streams_ptds" "per-thread default stream"
