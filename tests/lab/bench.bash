# bench.bash: sourced by the tests of sweeps: workloads that wait, fail or crash, an experiment of them, and
# checks. Needs $heddle and $out, a folder of its own.
failures=0
check() { # check WHAT COMMAND...
    local what=$1
    shift
    "$@" >/dev/null 2>&1 && return
    echo "FAILED: $what"
    failures=$((failures + 1))
}
is() { # is WHAT GOT WANTED
    [ "$2" = "$3" ] && return
    echo "FAILED: $1: got '$2', not '$3'"
    failures=$((failures + 1))
}
# A real run, after a while; it leaves a line in runs.started.
make_workload() { # make_workload NAME 'shell commands'
    local dir=$out/workloads/$1
    mkdir -p "$dir"
    printf '#!/bin/sh\necho "%s $$" >>"%s/runs.started"\n%s\n' "$1" "$out" "$2" >"$dir/$1.sh"
    chmod +x "$dir/$1.sh"
    printf 'name: %s\nsummary: of the tests\nprogram: %s.sh\nsizes:\n  tiny: {input: a few, args: []}\n' \
        "$1" "$1" >"$dir/workload.yaml"
}
real() { # real [WORKLOAD]: the shortest of the suite, where none is named
    echo "exec '$(dirname "$heddle")/workloads/${1:-2dconv}' --size tiny"
}
experiment() { # experiment FILE 'workload, workload' COLUMNS
    local i
    {
        printf 'title: a test\nmachine: fermi\nsize: tiny\nworkloads: [%s]\ncolumns:\n  base: {}\n' "$2"
        for ((i = 1; i < $3; i++)); do printf '  more%d: {set: {l1.mshrs: %d}}\n' "$i" $((64 * i)); done
        printf 'measures:\n  gain: {value: ipc / base.ipc - 1, title: Gain}\n'
        printf 'figures:\n  - {id: one, title: Gain, draw: bars, measures: [gain], '
        printf 'columns: [%s], mean: arithmetic, percent: true}\n' \
            "$([ "$3" -gt 1 ] && echo more1 || echo base)"
    } >"$1"
}
# How many runs are in a state, as the dry run tells: "to make", done, failed, running.
count() { # count STATE EXPERIMENT STORE
    timeout 60 "$heddle" sweep "$2" --store "$3" --dry-run --json | grep -c "\"state\": \"$1\""
}
nobody_left() { # the processes of runs.started have ended
    local pid
    for pid in $(awk '{print $2}' "$out/runs.started"); do
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            [ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null || continue 2
            sleep 0.2
        done
        return 1
    done
    return 0
}
export HEDDLE_WORKLOADS="$out/workloads" ASAN_OPTIONS=detect_leaks=0
