#!/bin/sh
# passes.sh NAME COMMAND...: a program that checks its own results has passed when it says "NAME: PASS" on a
# line of its own and ends with status 0: one that crashes behind that line has not.
set -u
name=$1
shift
text=$("$@" 2>&1)
status=$?
printf '%s\n' "$text"
printf '%s\n' "$text" | grep -qxF "$name: PASS" || { echo "FAILED: no line says '$name: PASS'"; exit 1; }
[ $status -eq 0 ] || { echo "FAILED: '$name: PASS', but the exit status is $status"; exit 1; }
