#!/usr/bin/env bash
# neutral.sh HEDDLE SOURCE_FOLDER PLUGINS 'WORKLOAD MACHINE'...: a mechanism that fills every hook and changes
# nothing leaves the statistics of workloads as they are; and all events have the same cycles whatever is
# skipped, on several threads.
set -uo pipefail
heddle=$1 plugins=$3
export HEDDLE_HOME=$2
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
own_groups() { grep -oE '"(gpu|sm|l1|xbar|l2|dram)\.[a-z0-9_]+":[0-9.]+' "$1" | md5sum; }
traced() { grep -oE '"(trace|srrip|victim)\.[a-z0-9_]+":[0-9]+' "$1"; }
# what every workload has; it need not have barriers, and nothing here prefetches
events='on_kernel on_launch on_issue on_next on_l1_access on_l1_evict on_l1_fill on_l1_level on_warp on_timer
    line_touched line_inserted counters'
workload() { # NAME MACHINE FILE OPTIONS...
    local name=$1 machine=$2 file=$3
    shift 3
    timeout 120 "$heddle" run "$name" --size tiny -m "$machine" --stats "$file" "$@" >"$work/log" 2>&1 ||
        fail "$name on $machine $*: $(tail -3 "$work/log")"
}
for at; do
    read -r name machine <<<"$at"
    workload $name $machine "$work/plain.json" --mech gto
    [ "$(grep -oE '"gpu\.[a-z0-9_]+":[0-9.]+' "$work/plain.json" | wc -l)" -gt 2 ] ||
        fail "no statistics of $name on $machine"
    for options in '' --no-skip '--threads 3 --threads-always'; do
        workload $name $machine "$work/every.json" --mech "$plugins/every_hook.so" $options
        [ "$(own_groups "$work/every.json")" = "$(own_groups "$work/plain.json")" ] ||
            fail "every_hook changes $name on $machine $options"
        workload $name $machine "$work/trace.json" --mech "$plugins/trace.so",srrip,victim $options
        if [ -z "$options" ]; then
            cp "$work/trace.json" "$work/first.json"
            for event in $events; do
                grep -Eq "\"trace\.$event\":0*[1-9]" "$work/first.json" ||
                    fail "$name on $machine: $event was not told"
            done
        fi
        [ "$(traced "$work/trace.json")" = "$(traced "$work/first.json")" ] ||
            fail "events of $name on $machine differ with $options"
    done
done

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
