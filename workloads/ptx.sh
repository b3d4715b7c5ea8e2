#!/usr/bin/env bash
# ptx.sh: makes the committed PTX of the workloads.
#   ptx.sh [NAME...]              with nvcc, into NAME/NAME.ptx
#   ptx.sh --clang DIR [NAME...]  with clang from Debian's packages (no CUDA toolkit), into DIR/NAME.ptx
#   ptx.sh --check [NAME...]      is every committed NAME.ptx made from the sources as they are? Needs no
#                                 compiler: the first line of the PTX holds the hash of its sources.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mode=nvcc
case ${1:-} in
--clang) mode=clang out=$2; shift 2 ;;
--check) mode=check; shift ;;
esac
[ $# -gt 0 ] || set -- $(cd "$here" && for f in */workload.yaml; do dirname "$f"; done)

# The MapReduce workloads share the device code of kit/mars*.cuh.
hash_of() {
    (cd "$here" && cat "$1"/*.cu $(ls "$1"/*.cuh 2>/dev/null) kit/device.h \
        $(case $1 in mr-*) ls kit/mars*.cuh ;; esac) | sha256sum | cut -d' ' -f1)
}
arch=75
status=0
for name; do
    source="$here/$name/$name.cu"
    case $mode in
    check)
        head -1 "$here/$name/$name.ptx" 2>/dev/null | grep -q "$(hash_of "$name")" ||
            {
                echo "workloads/$name/$name.ptx is not made from its sources: run workloads/ptx.sh $name"
                status=1
            }
        ;;
    nvcc)
        nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
        [ -x "$nvcc" ] || { echo "nvcc is not installed"; exit 77; }
        made=$(mktemp)
        "$nvcc" -ptx -O3 -arch=compute_$arch -I "$here" "$source" -o "$made"
        # The paths of the machine that compiled it do not belong in the file.
        {
            echo "// made of sources with sha256 $(hash_of "$name")"
            sed -E 's/_INTERNAL_[0-9a-f]{8}_/_INTERNAL_/g; s/_cu_[0-9a-f]{8}/_cu_/g' "$made"
        } >"$here/$name/$name.ptx"
        rm -f "$made"
        ;;
    clang)
        clang=$(command -v clang || command -v clang-14) || { echo "clang is not installed"; exit 77; }
        "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_$arch -nocudainc -nocudalib \
            -Wno-unknown-cuda-version -O3 -S -I "$here" "$source" -o "$out/$name.ptx"
        ;;
    esac
done
exit $status
