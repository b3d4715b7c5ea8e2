#!/bin/sh
# passes_test.sh HEDDLE CRASHER: passes.sh takes what has passed and nothing else, also from below Heddle: the
# program CRASHER says that it has passed and crashes at its exit.
set -u
heddle=$1 crasher=$2
passes=$(dirname "$0")/passes.sh
failed=0

# WHAT STATUS COMMAND...: passes.sh ends with STATUS for it.
expect() {
    what=$1 status=$2
    shift 2
    "$passes" it "$@" >/dev/null 2>&1
    [ $? -eq "$status" ] || { echo "FAILED: $what"; failed=1; }
}

expect "a program that passes" 0 sh -c 'echo one; echo it: PASS; echo more >&2'
expect "a program that says nothing" 1 true
expect "a program that fails" 1 sh -c 'echo it: FAIL; exit 1'
expect "another's line" 1 echo "split: PASS"
expect "a status after the line" 1 sh -c 'echo it: PASS; exit 3'
expect "a crash after the line" 1 sh -c 'echo it: PASS; kill -SEGV $$'
"$crasher" | grep -qx 'it: PASS' || { echo "FAILED: $crasher does not say that it has passed"; failed=1; }
expect "a crash at the exit, functional" 1 "$heddle" run --functional --quiet -- "$crasher"
expect "a crash at the exit, timed" 1 "$heddle" run --quiet -- "$crasher"
exit $failed
