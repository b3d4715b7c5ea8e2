#!/usr/bin/env bash
# pgo.sh: builds Heddle with profile-guided optimisation (gcc) into build/pgo: an instrumented build, a
# training run over the kernels of the speed bench, and the build that uses what was counted. Same results as
# the release preset, in less time (docs/performance.md). Where the instrumented build or the training fails,
# build/pgo is built without a profile, and a message says so. A profile is used again while the sources that
# it belongs to are the same.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh
heddle_setup
kernels="vecadd matmul spmv bfs chase madd histogram stencil transpose reduce kmeans diverge"
machines=("-m fermi" "-m maxwell" "-m rtx3080" --functional)
bin=build/pgo/bin log=build/pgo/pgo.log stamp=build/pgo/trained

# build PROFILE [TARGET...]: PROFILE is generate, use or empty.
build() {
    local profile=$1
    shift
    cmake --preset pgo -DHEDDLE_PGO="$profile" && cmake --build --preset pgo ${1:+--target "$@"}
}

train() {
    local kernel machine
    for kernel in $kernels; do
        for machine in "${machines[@]}"; do
            # shellcheck disable=SC2086 # two words
            $bin/heddle run -q $machine -- $bin/bench_speed "$kernel" --size tiny --no-check || return
        done
    done
}

# The counts of older sources go first. An edit while this runs is newer than the stamp.
make_profile() {
    rm -f $stamp
    find build/pgo -name '*.gcda' -delete
    touch $stamp.new
    build generate heddle heddle_shared heddle_libcuda bench_speed && train && mv $stamp.new $stamp
}

has_profile() {
    [ -e $stamp ] && [ -z "$(find src include bench/speed CMakeLists.txt -newer $stamp -print -quit)" ]
}

mkdir -p build/pgo
: > $log
has_profile || echo "pgo: instrumented build and training (log: $log)"
if has_profile || make_profile >> $log 2>&1; then
    profile=use has=with
    echo "pgo: optimised build"
else
    profile='' has=without
    tail -n 20 $log >&2
    echo "pgo: the training failed (see above and $log); building without a profile:" \
        "build/pgo will be as fast as the release preset" >&2
fi
if ! build "$profile" >> $log 2>&1; then
    tail -n 40 $log >&2
    echo "pgo: the build failed (see above and $log)" >&2
    exit 1
fi
echo "pgo: build/pgo is ready, $has a profile"
