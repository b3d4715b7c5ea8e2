#!/usr/bin/env bash
# silicon.sh: launches of the suite on the machine h200 beside a real H200 (docs/validation.md).
#   bench/silicon.sh [options] [WORKLOAD...]     makes the runs that the store lacks, then prints the table
#     -b BUILD       the build (default build/release)
#     --store FILE   the store of results (default build/silicon.db)
#     --launches     a line for each launch instead of each workload
# Of each workload the launches that bench/silicon/h200.tsv has (the first 24) are compared, if their grids
# are the same. That file is of an NVIDIA H200 at 1980 MHz, driver 580, Nsight Compute 2025.3, size `small`,
# caches flushed before each launch; the driver compiled the PTX. Its cycles (sm__cycles_elapsed.max) include
# the launch, which Heddle does not model: an empty kernel of one CTA takes 2,657 to 3,092 of them there and
# 703 here, so 2,000 are taken off each launch.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
build=$root/build/release store=$root/build/silicon.db by=workload
while [ $# -gt 0 ]; do
    case $1 in
    -b) build=$2; shift ;;
    --store) store=$2; shift ;;
    --launches) by=launch ;;
    -h | --help) sed -n '2,11p' "$0" | cut -c3-; exit ;;
    -*) echo "silicon: unknown option '$1' (--help)" >&2; exit 2 ;;
    *) break ;;
    esac
    shift
done
[ -x "$build/bin/heddle" ] || { echo "silicon: no $build/bin/heddle" >&2; exit 2; }
only=$(IFS=,; echo "$*")
"$build/bin/heddle" sweep "$here/silicon/suite.yaml" --store "$store" ${only:+--workloads "$only"} > /dev/null
"$build/bin/heddle" query "$store" --csv --sql "
    SELECT workload, kernel.id - 1, REPLACE(TRIM(grid, '[]'), ',', 'x'), kernel.cycles
    FROM kernel JOIN run ON run.id = kernel.run
    WHERE run.id IN (SELECT MAX(id) FROM run WHERE state = 'done' AND machine = 'h200' GROUP BY workload)
    ORDER BY workload, kernel.id" |
    awk -v by="$by" -v only="$only" -v launch=2000 -f "$here/silicon/silicon_compare.awk" \
        "$here/silicon/h200.tsv" -
