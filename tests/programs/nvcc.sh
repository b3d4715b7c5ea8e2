#!/usr/bin/env bash
# nvcc.sh HEDDLE SOURCE FOLDER: builds one program with nvcc, with the shared and with the static CUDA runtime, and runs both under
# Heddle, functionally and timed. Exit 77 = skipped, no nvcc here.
set -euo pipefail
heddle=$1 source=$2 folder=$3
name=$(basename "$source" .cu)
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "SKIPPED: nvcc is not installed, $name was not built as a CUDA binary"; exit 77; }
arch=sm_75
[ "$name" = half ] && arch=sm_90

"$nvcc" -c -O3 -arch=$arch -Wno-deprecated-gpu-targets "$source" -o "$folder/nvcc_$name.o"
for runtime in shared static; do
    binary=$folder/nvcc_${name}_$runtime
    "$nvcc" -arch=$arch -cudart $runtime -Wno-deprecated-gpu-targets "$folder/nvcc_$name.o" -o "$binary"
    for mode in --functional "-m fermi"; do
        # shellcheck disable=SC2086 # two words are two words
        out=$("$heddle" run $mode --quiet -- "$binary")
        echo "$runtime, $mode: $out"
        grep -q "$name: PASS" <<<"$out"
    done
done
