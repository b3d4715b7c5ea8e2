#!/bin/bash
# multiprocessors.sh HEDDLE PROGRAM: a CUDA program that asks for the number of SMs gets those that compute:
# all but the ones in cache mode. With a number that is chosen while it runs, those that always compute.
set -eu
heddle=$1 program=$2
while read -r cache choose seen; do
    out=$("$heddle" run -m rtx3080 --quiet --mech morpheus --mech-set morpheus.cache_sms="$cache" \
        --mech-set morpheus.choose="$choose" -- "$program" 2>&1) || { echo "$out"; exit 1; }
    for line in "multiprocessors $seen" 'capability: PASS'; do
        grep -qx "$line" <<<"$out" ||
            { echo "FAILED: $cache SMs in cache mode, $choose: no line '$line' in: $out"; exit 1; }
    done
done <<'END'
0 fixed 68
34 fixed 34
51 fixed 17
51 online 17
END
echo "programs see the SMs that compute"
