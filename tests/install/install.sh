#!/usr/bin/env bash
# install.sh BUILD_FOLDER PROGRAM: installs into BUILD_FOLDER/prefix, moves it, and works with what lies there
# alone: machines, libraries, headers, documents, workloads, an experiment, a mechanism built against it.
set -uo pipefail
build=$1
program=$2
root=$build/prefix
work=$root/work
failures=0
rm -rf "$root"
unset HEDDLE_HOME
cmake --install "$build" --prefix "$root/first" >"$root.log" 2>&1 ||
    { cat "$root.log"; echo "FAILED: cmake --install"; exit 1; }
mv "$root/first" "$root/moved" || exit 1
prefix=$root/moved
heddle=$prefix/bin/heddle
mkdir -p "$work" && cd "$work" || exit 1
export ASAN_OPTIONS=detect_leaks=0

# expect PATTERN COMMAND...: status 0, and a line of both streams must match where there is a pattern
expect() {
    local pattern=$1
    shift
    "$@" >out 2>&1 && { [ -z "$pattern" ] || grep -Eq -- "$pattern" out; } && return
    echo "FAILED: $* (wanted /$pattern/)"
    sed 's/^/    /' out | head -20
    failures=$((failures + 1))
}
expect '' test -f "$prefix/include/heddle/mechanism.h"
expect '' test -f "$prefix/share/doc/heddle/map.md"
if [ -e "$build/share/heddle/report.html" ]; then # where npm made it
    expect '' cmp "$build/share/heddle/report.html" "$prefix/share/heddle/report.html"
    expect '' test -f "$prefix/share/heddle/figures.cjs"
fi

# a machine that is nowhere else is found: it is the installed folder that is read, by the command and inside
# of a program
printf 'base: fermi\nsummary: only here\nsm:\n  count: 7\n' >"$prefix/share/heddle/machines/only-here.yaml"
expect '^only-here +7 ' "$heddle" list machines
expect '^only-here: 7 SMs' "$heddle" run -m only-here -- "$program"
expect ': PASS' "$heddle" run -m only-here -- "$program"
expect "calling init: .*($prefix/lib/heddle/(\.\./)*|moved/(bin/\.\./)?lib/heddle/)libheddle.so" \
    env LD_DEBUG=libs "$heddle" run -q -m only-here -- "$program"
expect '^only-here: 7 SMs' env PATH="$prefix/bin:$PATH" heddle run -m only-here -- "$program"

# the lab: a run has the same key as in the build tree, so that both may use one store
expect '^example +28  ' "$heddle" list experiments
expect '^28 runs: 0 in the store' "$heddle" reproduce example --dry-run
"$heddle" sweep example --dry-run --json | grep -o '"key": "[0-9a-f]*"' >keys.installed
"$build/bin/heddle" sweep example --dry-run --json | grep -o '"key": "[0-9a-f]*"' >keys.built
expect '' test "$(wc -l <keys.installed)" -eq 28
expect '' cmp keys.installed keys.built
expect '' test -s "$prefix/share/heddle/experiments/claims.tsv"
expect 'atax: PASS' "$heddle" run atax --size tiny -m only-here
if [ -e "$prefix/share/heddle/report.html" ]; then
    expect '^report.html: 1 experiment' "$heddle" reproduce example --workloads nn
    expect '' grep -q '"name":"example"' report.html
else
    expect ' 7 runs made' "$heddle" sweep example --workloads nn
fi
mv "$prefix/lib/heddle/workloads/bfs" bfs.away
"$heddle" reproduce example --dry-run >told 2>&1
expect '^2$' echo $?
expect "error: the program of workload 'bfs' is missing" cat told
mv bfs.away "$prefix/lib/heddle/workloads/bfs"

# a mechanism of one's own needs nothing but what is installed
expect 'make -C my-own' "$heddle" new mechanism my-own
expect "$prefix/include" grep HEDDLE_INCLUDE my-own/Makefile
expect '' make -C my-own CFLAGS='-O2 -Wall -Wextra -Wpedantic -Werror -Wno-unused-parameter'
expect 'my-own.asked +[1-9]' "$heddle" run -m only-here --mech my-own/my-own.so -- "$program"
expect '' make -B -C "$prefix/share/heddle/examples/mechanism" HEDDLE_INCLUDE="$prefix/include"
expect 'memory-first' "$heddle" run -m fermi \
    --mech "$prefix/share/heddle/examples/mechanism/memory-first.so" -- "$program"

cd / && rm -rf "$root"
[ $failures -eq 0 ] && echo "the installed tree works"
exit $((failures > 0))
