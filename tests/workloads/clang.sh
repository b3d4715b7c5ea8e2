#!/usr/bin/env bash
# clang.sh HEDDLE FOLDER: compiles the device code of every workload with clang (no CUDA toolkit) and runs it.
set -uo pipefail
heddle=$1
out=$2/clang_ptx
root=$(cd "$(dirname "$0")/../.." && pwd)
command -v clang >/dev/null || command -v clang-14 >/dev/null ||
    { echo "SKIPPED: clang is not installed"; exit 77; }
mkdir -p "$out"
failures=0
for description in "$root"/workloads/*/workload.yaml; do
    name=$(basename "$(dirname "$description")")
    if ! "$root/workloads/ptx.sh" --clang "$out" "$name"; then
        echo "FAILED: clang does not compile $name"
        failures=$((failures + 1))
    elif ! "$heddle" run "$name" --size tiny --functional --quiet -- --ptx "$out/$name.ptx" |
        grep -q "$name: PASS"; then
        echo "FAILED: $name with clang's PTX"
        failures=$((failures + 1))
    fi
done
[ $failures -eq 0 ] && echo "all workloads are right with clang's PTX"
exit $((failures > 0))
