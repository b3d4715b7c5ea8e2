#!/usr/bin/env bash
# make_ptx.sh: makes the committed .ptx files with nvcc. make_ptx.sh --check NAME FRESH.ptx: says whether the
# committed NAME.ptx is what nvcc makes today, FRESH.ptx (exit 77 = another version of nvcc made the committed
# one, so nothing can be said).
set -euo pipefail
[ "${1:-}" = --check ] && name=$2 fresh=$(realpath "$3")
cd "$(dirname "$0")"
# nvcc puts hashes of the file's path into the names of static functions
plain() { sed -E 's/_INTERNAL_[0-9a-f]{8}_/_INTERNAL_/g; s/_cu_[0-9a-f]{8}/_cu_/g' "$1"; }
build_id() { grep '^// Compiler Build ID' "$1"; }
if [ "${1:-}" = --check ]; then
    [ "$(build_id "$fresh")" = "$(build_id "$name.ptx")" ] || { echo "another nvcc made $name.ptx"; exit 77; }
    cmp -s <(plain "$fresh") <(plain "$name.ptx") && exit 0
    echo "$name.ptx is not what nvcc makes of $name.cu: run tests/programs/make_ptx.sh"
    exit 1
fi
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "nvcc is not installed" >&2; exit 1; }
arch_of() { case $1 in half | mbarrier) echo compute_90 ;; *) echo compute_75 ;; esac; }

for source in *.cu; do
    name=${source%.cu}
    "$nvcc" -ptx -O3 -arch="$(arch_of "$name")" "$source" -o "$name.ptx"
done
