#!/usr/bin/env bash
# nvcc.sh HEDDLE SOURCE FOLDER: builds one program with nvcc, with the shared and with the static CUDA
# runtime, and runs both under Heddle, functionally and timed; streams also with per-thread default streams.
# The committed PTX is what nvcc made on the way. Exit 77 = skipped, no nvcc here.
set -euo pipefail
heddle=$1 source=$2 folder=$3
name=$(basename "$source" .cu)
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "SKIPPED: nvcc is not installed, $name was not built as a CUDA binary"; exit 77; }
arch=sm_75
case $name in half | mbarrier) arch=sm_90 ;; esac

kept=$folder/nvcc_$name.kept
mkdir -p "$kept"
# In its folder: what assert and printf say of a file is in the PTX.
(cd "$(dirname "$source")" && "$nvcc" -c -O3 -arch=$arch --keep --keep-dir "$kept" \
    -Wno-deprecated-gpu-targets "$name.cu" -o "$folder/nvcc_$name.o")
"$(dirname "$0")/make_ptx.sh" --check "$name" "$kept/$name.ptx" || [ $? -eq 77 ]
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

[ "$name" = streams ] || exit 0
# Its one kernel of stream 0 runs on the thread's own stream, which is none of stream 0.
"$nvcc" -c -O3 -arch=$arch --default-stream per-thread -Wno-deprecated-gpu-targets "$source" \
    -o "$folder/nvcc_$name.pt.o"
for runtime in shared static; do
    binary=$folder/nvcc_${name}_pt_$runtime
    "$nvcc" -arch=$arch -cudart $runtime -Wno-deprecated-gpu-targets "$folder/nvcc_$name.pt.o" -o "$binary"
    out=$("$heddle" run -m fermi --json -- "$binary" 2>&1)
    grep -q "$name: PASS" <<<"$out"
    [ "$(grep -c '"stream":' <<<"$out")" -eq 6 ]
    ! grep -q '"stream":0,' <<<"$out" || { echo "$runtime: a kernel ran on the legacy stream"; exit 1; }
    echo "$runtime, per-thread default streams: PASS"
done
