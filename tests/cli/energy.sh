#!/usr/bin/env bash
# energy.sh HEDDLE SOURCE_FOLDER: events of a kernel that were counted by hand, what they cost, and that
# asking for it changes nothing. Two warps run energy.ptx's `more`, the second with 16 lanes; `heddle disasm`
# shows its ten instructions.
set -uo pipefail
heddle=$1
cd "$2" || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
run() { # run ARGS...: the kernel's summary as JSON
    "$heddle" kernel tests/cli/energy.ptx more -m fermi --grid 1 --block 48 --arg 'buf:f32[64]=iota' \
        --json "$@"
}
run --energy >"$folder/with.json" || fail "it does not run"
run >"$folder/without.json" || fail "it does not run without --energy"

# Of each warp: s2r; mov, an immediate; mad.wide of two registers and a parameter into a pair; a load through
# a pair; add r4, r4; mul; fma; sqrt; a store of one register through a pair; exit.
while read -r name value; do
    grep -q "\"$name\":$value[,}]" "$folder/with.json" || fail "$name is not $value"
done <<'ROWS'
sm.warp_insts 20
sm.thread_insts 480
sm.insts_int 6
sm.insts_fp32 6
sm.insts_sfu 2
sm.lanes_int 96
sm.lanes_int_mul 48
sm.lanes_fp 96
sm.lanes_fp_mul 48
sm.lanes_sqrt 48
sm.register_reads 28
sm.register_read_lanes 672
sm.register_writes 18
sm.register_write_lanes 432
sm.other_operands 4
sm.other_operand_lanes 96
ROWS
# Registers: (336 + 448) * 7.267 + (216 + 288) * 5.986 + (48 + 64) * 53.01 pJ.
grep -q '"registers":1.4651392e-08' "$folder/with.json" || fail "registers do not cost 14651.4 pJ"
# Units: 96 * 67.4 + 48 * 213 + 96 * 29.58 + 48 * 53.2 + 48 * 1209 pJ.
grep -q '"units":8.011968e-08' "$folder/with.json" || fail "units do not cost 80119.7 pJ"

# Rows of mechanisms: two loads train the prefetcher's table, 0.3 pJ each; a table may say otherwise.
run --energy --mech str >"$folder/str.json" || fail "it does not run with str"
grep -q '"mechanisms":{"str.table":6e-13}' "$folder/str.json" || fail "str.table does not cost 0.6 pJ"
grep -q '"mechanisms":6e-13' "$folder/str.json" || fail "the part of mechanisms does not have it"
printf 'base: gpuwattch\nmechanisms:\n  str.table: 5\n' >"$folder/own.yaml"
run --energy --mech str --set "energy=$folder/own.yaml" >"$folder/own.json" || fail "own.yaml is not taken"
grep -q '"mechanisms":{"str.table":1e-11}' "$folder/own.json" || fail "a table does not override a row"
grep -q '"mechanisms":{}' "$folder/with.json" || fail "rows of mechanisms that are not there"
printf 'base: gpuwattch\nmechanisms:\n  str.tabel: 5\n' >"$folder/own.yaml"
run --energy --set "energy=$folder/own.yaml" >/dev/null 2>"$folder/error"
[ $? -eq 2 ] || fail "an unknown row of a mechanism: the exit status is not 2"
grep -q "own.yaml:3:3: error:.*str.tabel" "$folder/error" || fail "an unknown row is not said with its place"

hash_of() { grep -o '"hash":"[0-9a-f]*"' "$1"; }
[ "$(hash_of "$folder/with.json")" = "$(hash_of "$folder/without.json")" ] || fail "--energy changes the hash"
grep -q '"energy"' "$folder/without.json" && fail "energy is printed though nobody asked"

# However many threads simulate, the joules are the same to the last digit.
energy_of() { # energy_of THREADS: of 40 CTAs
    "$heddle" kernel tests/cli/energy.ptx more -m fermi --grid 40 --block 48 --arg 'buf:f32[2048]=iota' \
        --json --energy --mech str --threads "$1" --threads-always | grep -o '"energy":{.*"watts":[^}]*}'
}
energy_of 1 >"$folder/one"
[ -s "$folder/one" ] || fail "a run of 40 CTAs has no energy"
energy_of 3 | cmp -s - "$folder/one" || fail "three threads give other joules than one"

for bad in energy=gpuwatch energy=/nonexistent.yaml energy=; do
    run --energy --set "$bad" >/dev/null 2>"$folder/error"
    [ $? -eq 2 ] || fail "--set $bad: the exit status is not 2"
    grep -q 'table of energies' "$folder/error" || fail "--set $bad: the message does not say what is wrong"
    # A program is not even started.
    "$heddle" run --energy -m fermi --set "$bad" -- /bin/echo started >"$folder/out" 2>"$folder/error"
    [ $? -eq 2 ] || fail "run --set $bad: the exit status is not 2"
    grep -q 'table of energies' "$folder/error" || fail "run --set $bad: the message does not say why"
    [ -s "$folder/out" ] && fail "run --set $bad: the program was started"
done
# A table is checked though nobody asks for energies.
run --set energy=gpuwatch >/dev/null 2>"$folder/error"
[ $? -eq 2 ] || fail "--set energy=gpuwatch without --energy: the exit status is not 2"
run --set energy= >/dev/null || fail "a machine without a table does not run"
printf 'about: mine\nbase: nobody\n' >"$folder/own.yaml"
run --energy --set "energy=$folder/own.yaml" >/dev/null 2>"$folder/error"
grep -q "own.yaml:2:7: error: no table of energies 'nobody'" "$folder/error" ||
    fail "a base that does not exist is not said with its place"

# experiments/power.yaml has the whole suite: all but the probe of Morpheus.
sed -n '/^workloads:/,/]/p' experiments/power.yaml | tr -s '[], \n' '\n' >"$folder/suite"
for described in workloads/*/workload.yaml; do
    name=$(basename "$(dirname "$described")")
    [ "$name" = llc-probe ] || grep -Fxq "$name" "$folder/suite" || fail "power lacks $name"
done
exit $((failures > 0))
