#!/bin/sh
# The launches of tests/peer on the timed GPU beside what GPGPU-Sim counts for them, in all variants.
#     bench/peer.sh [BUILD_FOLDER] [CASE...]
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
build=${1:-$here/build}
[ $# -gt 0 ] && shift
exec "$build/bin/test_peer" --all "$@"
