#!/usr/bin/env bash
# pgo.sh: builds Heddle with profile-guided optimisation (gcc) into build/pgo: an instrumented build, a
# training run over the kernels of the speed bench on every machine of it, and the build that uses what was
# counted. Same results, a little faster.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh
heddle_setup
kernels="vecadd matmul spmv bfs chase madd histogram stencil transpose reduce kmeans diverge"

echo "instrumented build"
find build/pgo -name '*.gcda' -delete 2> /dev/null || true # counts of older sources
cmake --preset pgo -DHEDDLE_PGO=generate -DHEDDLE_LTO=OFF > /dev/null
cmake --build --preset pgo --target heddle heddle_libcuda bench_speed > /dev/null
echo "training"
for kernel in $kernels; do
    for machine in "-m fermi" "-m maxwell" "-m rtx3080" --functional; do
        # shellcheck disable=SC2086 -- two words
        build/pgo/bin/heddle run -q $machine -- build/pgo/bin/bench_speed "$kernel" --no-check > /dev/null
    done
done
echo "optimised build"
cmake --preset pgo -DHEDDLE_PGO=use -DHEDDLE_LTO=ON > /dev/null
cmake --build --preset pgo > /dev/null
echo "build/pgo is ready; beside the release build: bench/speed.sh --against build/pgo"
