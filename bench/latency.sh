#!/usr/bin/env bash
# Latency-against-load curves, written into docs/validation.md between its two marks, and drawn into
# docs/latency.svg.
#   bench/latency.sh [-b BUILD_DIR] [-n] [MACHINE [KEY=VALUE ...]]      -n: only print
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=$here/build/release print=
while getopts b:n flag; do
    case $flag in
    b) build=$OPTARG ;;
    n) print=1 ;;
    *) sed -n '2,3p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
export HEDDLE_HOME=$here
[ -n "$print" ] && exec "$build/bin/bench_latency" "$@"
work=$(mktemp)
trap 'rm -f "$work" "$work.new"' EXIT
"$build/bin/bench_latency" "$@" > "$work"
awk -v table="$work" '/^<!-- curves end/ { skip = 0 }
    !skip { print }
    /^<!-- curves begin/ { skip = 1; print ""; while ((getline line < table) > 0) print line; print "" }' \
    "$here/docs/validation.md" > "$work.new"
cat "$work.new" > "$here/docs/validation.md"
awk -f "$here/bench/latency_svg.awk" "$work" > "$here/docs/latency.svg"
