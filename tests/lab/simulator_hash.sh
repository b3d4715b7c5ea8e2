#!/usr/bin/env bash
# simulator_hash.sh SOURCE_FOLDER BUILD_FOLDER: the hash of the simulator's sources depends on what decides
# results, and on nothing else.
set -euo pipefail
root=$1
build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
hash_of() { cmake -DROOT="$1" -DOUT="$folder/out.h" -P "$root/scripts/simulator_hash.cmake" &&
    cat "$folder/out.h"; }
fail() { echo "FAILED: $*"; exit 1; }

first=$(hash_of "$root")
[[ $first =~ ^'#define SIMULATOR_HASH "'[0-9a-f]{32}'"'$ ]] || fail "no hash: $first"
[ "$first" = "$(cat "$build/src/generated/simulator_hash.h")" ] ||
    fail "the build has another hash than its sources"
mkdir "$folder/copy"
cp -r "$root/src" "$root/include" "$folder/copy/"
[ "$(hash_of "$folder/copy")" = "$first" ] || fail "it depends on the folder"
echo '/* more */' >>"$folder/copy/src/lab/job.c"
echo '/* more */' >>"$folder/copy/src/cli/main.c"
echo '/* more */' >>"$folder/copy/src/energy/events.def"
echo 'more' >>"$folder/copy/src/cuda/README.md"
[ "$(hash_of "$folder/copy")" = "$first" ] ||
    fail "it depends on the lab, the command line, energies or a README"
mv "$folder/copy/src/core/sm/sm.c" "$folder/copy/src/core/sm2.c"
second=$(hash_of "$folder/copy")
[ "$second" != "$first" ] || fail "it does not depend on names"
mv "$folder/copy/src/core/sm2.c" "$folder/copy/src/core/sm/sm.c"
for file in src/core/sm/sm.c src/isa/isa.def include/heddle/mechanism.h src/mech/gto.c; do
    cp "$folder/copy/$file" "$folder/kept"
    echo >>"$folder/copy/$file"
    [ "$(hash_of "$folder/copy")" != "$first" ] || fail "it does not depend on $file"
    cp "$folder/kept" "$folder/copy/$file"
done
echo "$first"
