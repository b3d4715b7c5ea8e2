#!/usr/bin/env bash
# cache_mode.sh: what SMs in cache mode cost the host, and whether the bar is met (docs/performance.md): with
# Morpheus a cycle of an SM, those in cache mode too, is simulated at a third of the speed without, or more.
# Host instructions of the loop over all cycles are counted by callgrind, so that the host's load does not
# matter. Exit status 1: the bar is missed.
#   bench/cache_mode.sh [options] [WORKLOAD...]   (default kmeans spmv bfs)
#     -b BUILD      the build to measure (default build/release)
#     -m MACHINE    (default rtx3080)
#     -n SMS        SMs in cache mode (default 32)
#     --size NAME   of the workloads (default tiny)
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/release machine=rtx3080 sms=32 size=tiny

die() { echo "cache_mode: $*" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
    -b) build=$2; shift ;;
    -m) machine=$2; shift ;;
    -n) sms=$2; shift ;;
    --size) size=$2; shift ;;
    -h | --help) sed -n '2,11p' "$0" | cut -c3-; exit ;;
    -*) die "unknown option '$1' (--help)" ;;
    *) break ;;
    esac
    shift
done
workloads=${*:-kmeans spmv bfs}
[ -x "$build/bin/heddle" ] || die "no $build/bin/heddle"
command -v valgrind > /dev/null || die "valgrind is not installed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A statistic of the whole run; 0 where there is none.
stat() {
    sed -n '/"total"/,$p' "$work/stats.json" | grep -oE "\"$1\": *[0-9]+" | head -1 | grep -oE '[0-9]+$' ||
        echo 0
}

# measure WORKLOAD [OPTION...]: "HOST_INSTS SM_CYCLES WARP_INSTS HELPER_INSTS"
measure() {
    local workload=$1
    shift
    valgrind --tool=callgrind --trace-children=yes --collect-atstart=no --toggle-collect=run_steps \
        --callgrind-out-file="$work/callgrind.%p" "$build/bin/heddle" run "$workload" --size "$size" \
        -m "$machine" --quiet --stats "$work/stats.json" "$@" > "$work/said" 2>&1 ||
        { cat "$work/said" >&2; die "$workload failed"; }
    grep -hE '^(summary|totals):' "$work"/callgrind.* | awk '$2 > n { n = $2 } END { printf "%.0f ", n }'
    echo "$(($(stat sm.cycles) + $(stat helper.cycles))) $(stat sm.warp_insts) $(stat helper.warp_insts)"
    rm -f "$work"/callgrind.*
}

echo "$machine, $size, $sms SMs in cache mode: host instructions for each cycle of an SM"
for w in $workloads; do
    without=$(measure "$w")
    with=$(measure "$w" --mech morpheus --mech-set "morpheus.cache_sms=$sms")
    echo "$w $without $with" >> "$work/rows"
done
awk '
    BEGIN { printf "%-12s %9s %9s %7s %14s\n", "workload", "without", "with", "speed", "helper/program" }
    {
        without = $2 / $3
        with = $6 / $7
        printf "%-12s %9.1f %9.1f %7.2f %14.1f\n", $1, without, with, without / with, $9 / $8
        if (3 * without < with) missed = missed " " $1
    }
    END {
        if (missed == "") print "all are at a third of the speed without, or above"
        else print "below a third of the speed without:" missed
        exit missed != ""
    }' "$work/rows"
