#!/usr/bin/env bash
# make_ptx.sh: makes the committed .ptx files with nvcc. With --check: says whether they are what nvcc
# makes today (exit 77 = no nvcc, or another version than the one that made them, so nothing can be said).
set -euo pipefail
cd "$(dirname "$0")"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "SKIPPED: nvcc is not installed"; exit 77; }
# nvcc puts hashes of the file's path into the names of static functions
plain() { sed -E 's/_INTERNAL_[0-9a-f]{8}_/_INTERNAL_/g; s/_cu_[0-9a-f]{8}/_cu_/g' "$1"; }
arch_of() { case $1 in half | mbarrier) echo compute_90 ;; *) echo compute_75 ;; esac; }

status=0
for source in *.cu; do
    name=${source%.cu}
    if [ "${1:-}" = --check ]; then
        fresh=$(mktemp)
        "$nvcc" -ptx -O3 -arch="$(arch_of "$name")" "$source" -o "$fresh"
        if ! diff -q <(grep '^// Compiler Build ID' "$fresh") <(grep '^// Compiler Build ID' "$name.ptx") \
            >/dev/null; then
            echo "SKIPPED: another nvcc made $name.ptx"
            rm -f "$fresh"
            exit 77
        fi
        cmp -s <(plain "$fresh") <(plain "$name.ptx") ||
            { echo "$name.ptx is not what nvcc makes of $source: run tests/programs/make_ptx.sh"; status=1; }
        rm -f "$fresh"
    else
        "$nvcc" -ptx -O3 -arch="$(arch_of "$name")" "$source" -o "$name.ptx"
    fi
done
exit $status
