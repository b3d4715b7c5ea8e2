#!/bin/bash
# pinned.sh check BUILD MACHINE [OPTION...]: makes each run of MACHINE in pinned.tsv, with OPTIONs of
# `heddle run` that must not change anything, and compares what it counts with the file.
# pinned.sh write BUILD: makes all runs and writes the file again. Its list of runs (the first three columns)
# is edited by hand. BUILD is a build folder.
set -u
here=$(cd "$(dirname "$0")" && pwd)
file=$here/pinned.tsv
[ $# -ge 2 ] || { echo "usage: $0 check BUILD MACHINE [OPTION...] | write BUILD" >&2; exit 2; }
what=$1 build=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# MACHINE RUN OPTIONS [OPTION...]: the columns of the run that pin.c makes. RUN is a workload of the suite at
# its smallest size, or ./NAME, a program of tests/programs.
columns() {
    local machine=$1 run=$2 options=$3 program
    shift 3
    [ "$options" = - ] && options=
    program=("$run" --size tiny)
    [ "${run#./}" = "$run" ] || program=(-- "$build/bin/program_${run#./}")
    # shellcheck disable=SC2086 # several options stand in one column
    "$build/bin/heddle" run -m "$machine" $options "$@" --quiet --stats "$work/run.json" "${program[@]}" \
        >"$work/out" 2>&1 && grep -q ': PASS$' "$work/out" || { cat "$work/out" >&2; return 1; }
    "$build/bin/pin" "$work/run.json"
}

# WAS IS, of which each has a header: what differs, in words.
tell_difference() {
    paste <(head -1 "$2" | tr '\t' '\n') <(tail -1 "$1" | tr '\t' '\n') <(tail -1 "$2" | tr '\t' '\n') |
        awk -F'\t' '$2 != $3 && $1 ~ /\./ { print "  " $1 " was " $2 ", is " $3 }
            $2 != $3 && $1 !~ /\./ { moved = moved (moved ? ", " : "") $1 }
            END { if (moved) print "  statistics moved in: " moved }'
}

check() {
    local machine=$1 failed=0 runs=0 m run options pinned
    shift
    while IFS=$'\t' read -r m run options pinned; do
        [ "$m" = "$machine" ] || continue
        runs=$((runs + 1))
        "$build/bin/pin" | tee "$work/was" >"$work/is"
        printf '%s\n' "$pinned" >>"$work/was"
        if ! columns "$m" "$run" "$options" "$@" >>"$work/is"; then
            echo "FAILED: $machine, $run ($options): the run"
            failed=1
        elif ! cmp -s "$work/was" "$work/is"; then
            echo "FAILED: $machine, $run ($options): other statistics than in tests/pinned/pinned.tsv"
            tell_difference "$work/was" "$work/is"
            failed=1
        fi
    done < <(grep -v '^#' "$file")
    [ $runs -gt 0 ] || { echo "FAILED: no run of $machine is in $file"; return 1; }
    if [ $failed -ne 0 ]; then
        echo "where this is what the change is meant to do: see the top of $file"
        return 1
    fi
    echo "$machine: $runs runs as pinned"
}

write() {
    local m run options pinned
    {
        grep '^#' "$file"
        printf 'machine\trun\toptions\t'
        "$build/bin/pin"
        while IFS=$'\t' read -r m run options pinned; do
            [ "$m" = machine ] && continue
            pinned=$(columns "$m" "$run" "$options") || { echo "FAILED: $m, $run ($options)" >&2; exit 1; }
            printf '%s\t%s\t%s\t%s\n' "$m" "$run" "$options" "$pinned"
        done < <(grep -v '^#' "$file")
    } >"$work/file" && cp "$work/file" "$file"
}

case $what in
check) check "$@" ;;
write) write ;;
*) echo "neither check nor write: $what" >&2; exit 2 ;;
esac
