#!/usr/bin/env bash
# new.sh HEDDLE MECH_DRIVE SOURCE_FOLDER: `heddle new mechanism` writes something that builds without
# warnings, loads, votes and runs; so does the example; with make and with CMake.
set -uo pipefail
heddle=$1 drive=$2 root=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HEDDLE_HOME=$root
failures=0
fail() {
    echo "FAILED: $*"
    [ -f "$work/out" ] && sed 's/^/    /' "$work/out" | head -20
    failures=$((failures + 1))
}
# expect STATUS PATTERN COMMAND...: status and a line of both streams must match
expect() {
    local status=$1 pattern=$2 got
    shift 2
    "$@" >"$work/out" 2>&1
    got=$?
    { [ $got -eq "$status" ] && grep -Eq -- "$pattern" "$work/out"; } ||
        fail "$* (status $got, wanted $status and /$pattern/)"
}
cd "$work" || exit 1

# what is written builds and works
expect 0 'make -C my-own' "$heddle" new mechanism my-own
expect 0 '' make -C my-own CFLAGS='-O2 -Wall -Wextra -Wpedantic -Werror -Wno-unused-parameter'
expect 0 'my-own.asked [1-9]' "$drive" my-own/my-own.so
expect 0 'my-own.bypassed [1-9]' "$drive" my-own/my-own.so my-own.misses=1
expect 0 'my-own.bypassed 0$' "$drive" my-own/my-own.so my-own.misses=1000000
expect 1 "did you mean 'my-own.misses'" "$drive" my-own/my-own.so my-own.mises=1
expect 0 '' cmake -S my-own -B build
expect 0 '' cmake --build build
expect 0 'my-own.asked [1-9]' "$drive" build/my-own.so

# on the modelled GPU: the program's result does not depend on it, and its statistics are there
saxpy=("$heddle" kernel "$root/examples/saxpy.ptx" saxpy --grid 4 --block 256 --arg f32=2 \
    --arg 'buf:f32[1K]=iota' --arg 'buf:f32[1K]=iota' --arg s32=1024)
expect 0 'arg 2: f32\[1024\] hash [0-9a-f]{16}: 0 3 6 9' "${saxpy[@]}" --mech my-own/my-own.so
expect 0 'my-own.asked' "${saxpy[@]}" --mech my-own/my-own.so --json
expect 2 "both pick" "${saxpy[@]}" --mech lrr,gto

# never over what is there, and only good names
expect 2 'cannot write my-own/my_own.c' "$heddle" new mechanism my-own
expect 2 'built-in mechanism has this name' "$heddle" new mechanism gto
expect 2 'a name is made of' "$heddle" new mechanism 'My Own'
expect 2 'mechanism NAME' "$heddle" new
expect 2 'cannot find heddle/mechanism.h in' "$heddle" new mechanism other --include "$work"

# the list
expect 0 '^  gto .*\(default\)' "$heddle" list mechanisms
expect 0 'swl\.warps=64' "$heddle" list mechanisms

# the example
cp -r "$root/examples/mechanism" example
expect 0 '' make -B -C example HEDDLE_INCLUDE="$root/include"
expect 0 'memory-first.memory_picks [1-9]' "$drive" example/memory-first.so memory-first.run=2
expect 0 'arg 2: f32\[1024\] hash [0-9a-f]{16}: 0 3 6 9' "${saxpy[@]}" --mech example/memory-first.so

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
