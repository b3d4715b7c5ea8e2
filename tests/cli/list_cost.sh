#!/usr/bin/env bash
# list_cost.sh HEDDLE IS_JSON: the storage of mechanisms as a table and as JSON, on other machines and with
# other parameters, and what is refused.
set -uo pipefail
heddle=$1
is_json=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
cost() { "$heddle" list mechanisms --cost "$@"; }

cost -m maxwell >"$folder/all" || fail "the status of the list is not 0"
grep -Eq '^storage on maxwell: 16 SMs, 8 slices' "$folder/all" || fail "the machine is not named"
for name in gto apres linebacker finereg ccn; do
    grep -qx "$name" "$folder/all" || fail "$name is not in the list"
done
[ "$(awk 'length($0) > 80' "$folder/all" | wc -l)" -eq 0 ] || fail "a line is too wide"

# 1536 tags of 24 bits, and 6230.75 bytes of an SM on 16 of them; two partitions have a quarter of the tags
cost -m maxwell --mech linebacker >"$folder/one"
grep -Eq '^  vtt +1536 x +24 bits +4608.00 B ' "$folder/one" || fail "the tag table of linebacker"
grep -Eq '^  all +6230.75 bytes of an SM, 99692 on the whole machine$' "$folder/one" || fail "its sum"
cost -m maxwell --mech linebacker --mech-set linebacker.partitions=2 >"$folder/one"
grep -Eq '^  vtt +384 x +22 bits +1056.00 B ' "$folder/one" || fail "--mech-set has no effect"
cost -m fermi --mech ccn --set l1.size=48K >"$folder/one"
grep -Eq '^  tags +384 x +25 bits +1200.00 B ' "$folder/one" || fail "--set has no effect"
cost -m maxwell --mech pcal >"$folder/one"
grep -q 'N and p of all SMs (of the GPU)' "$folder/one" || fail "the scope is not told"

cost -m maxwell --json >"$folder/json" || fail "the status of the JSON is not 0"
"$is_json" <"$folder/json" || fail "it is not JSON"
grep -q '"name": "vtt", "scope": "sm", "entries": 1536, "bits": 24, "bytes": 4608' "$folder/json" ||
    fail "the JSON lacks a row"
grep -q '"sm_bytes": 6230.75, "machine_bytes": 99692' "$folder/json" || fail "the JSON lacks the sums"

# one that does not fit is listed with the reason; an error where it is named
cost -m maxwell --set l1.line=64 >"$folder/all" || fail "a misfit makes the whole list fail"
grep -q "mechanism 'linebacker': l1.line is 64" "$folder/all" || fail "the reason is not listed"
cost -m maxwell --set l1.line=64 --json >"$folder/json"
grep -q '"fault": "mechanism .linebacker.: l1.line is 64' "$folder/json" ||
    fail "the reason is not in the JSON"

refused() { # refused PATTERN ARGS...
    "$heddle" list "${@:2}" >/dev/null 2>"$folder/error"
    [ $? -eq 2 ] || fail "heddle list ${*:2}: the exit status is not 2"
    grep -Eq -- "$1" "$folder/error" || fail "heddle list ${*:2}: $(cat "$folder/error")"
}
refused "l1.line is 64" mechanisms --cost -m maxwell --set l1.line=64 --mech linebacker
refused "did you mean 'apres'" mechanisms --cost --mech aprs
refused "did you mean 'apres.wgt'" mechanisms --cost --mech-set apres.wgtt=4
refused "no mechanism is called 'aprs'|did you mean" mechanisms --cost --mech-set aprs.wgt=4
refused "is not attached" mechanisms --cost --mech gto --mech-set apres.wgt=4
refused "did you mean 'fermi'" mechanisms --cost -m fermii
refused "go with --cost" mechanisms -m fermi
refused "is for mechanisms" machines --cost
[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
