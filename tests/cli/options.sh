#!/usr/bin/env bash
# options.sh HEDDLE SOURCE_FOLDER: every run option (heddle list options) reaches the simulation by its flag
# and by its variable, through `heddle run`, through `heddle kernel` and in a program that is started by
# itself; wrong values end with status 2.
set -uo pipefail
heddle=$1
cd "$2" || exit 1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export ASAN_OPTIONS=detect_leaks=0
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
bin=$(dirname "$heddle")
program=("$bin/workloads/atax" --size tiny)
kernel=(kernel examples/saxpy.ptx saxpy --grid 4 --block 256
    --arg f32=2 --arg 'buf:f32[1K]=iota' --arg 'buf:f32[1K]=iota' --arg s32=1024)

# NAME | VALUE | a line that the output then has, or: same (nothing may change), FILE (the value is a file
# that must then be there) | a wrong value, or - where any text is right
rows='machine|fermi|fermi|fermii
set|sm.count=3|3 SMs|sm.cuont=3
mech|swl|swl\.changes|swll
mech_set|swl.warps=1|swl\.changes|swl.wraps=1
maxrregcount|16|registers 16|7
functional|1|functional|perhaps
races|1|no races found|perhaps
no_skip|1|same|perhaps
threads_always|1|same|perhaps
threads|2|same|257
sample|100|"samples":|often
stats|'$folder'/stats.json|FILE|/nonexistent/x.json
timeline|'$folder'/timeline.json|FILE|/nonexistent/x.json
format|gpgpusim|gpu_sim_cycle|xml
json|1|"schema"|-
energy|1|without leakage|perhaps
quiet|1|-|perhaps'

field() { # field NAME KEY: of `heddle list options --json`
    "$heddle" list options --json | sed -n "s/.*\"name\": \"$1\",.*\"$2\": \"\([^\"]*\)\".*/\1/p"
}

# The row's other needs: a mechanism for its parameter, JSON to see the time series.
more_flags() { case $1 in mech_set) echo --mech swl ;; sample) echo --json ;; esac; }
more_variables() {
    case $1 in
    mech_set) echo HEDDLE_MECH=swl ;;
    sample) echo HEDDLE_FORMAT=json ;;
    *) echo A=B ;;
    esac
}

# Everything but what the host's clock says.
plain() { "$@" 2>&1 | grep -v -e 'seconds' -e 'kIPS' -e 'insts/s' -e ' s wall'; }
plain "$heddle" run atax --size tiny >"$folder/plain"

check() { # check HOW NAME SIGN VALUE: what the run printed is in $folder/out
    case $3 in
    same) [ "$1" = kernel ] || cmp -s "$folder/out" "$folder/plain" || fail "$1: $2 changed the output" ;;
    FILE) [ -s "$4" ] || fail "$1: $2 wrote no file" && rm -f "$4" ;;
    -) ! grep -q 'issue slots' "$folder/out" || fail "$1: $2 had no effect" ;;
    *) grep -Eq -- "$3" "$folder/out" || fail "$1: $2 had no effect: no /$3/ in: $(head -5 "$folder/out")" ;;
    esac
}

expect_two() { # expect_two TEXT COMMAND...
    local text=$1
    shift
    "$@" >"$folder/out" 2>&1
    local status=$?
    [ $status -eq 2 ] && grep -q -- "$text" "$folder/out" ||
        fail "status $status, no '$text': $*: $(head -3 "$folder/out")"
}

while IFS='|' read -r name value sign wrong; do
    flag=$(field "$name" flag)
    variable=$(field "$name" variable)
    [ -n "$flag" ] || { fail "no option $name" && continue; }
    words=("$flag" "$value")
    [ -n "$(field "$name" value)" ] || words=("$flag")
    read -ra more <<<"$(more_flags "$name")"
    plain "$heddle" run atax --size tiny "${more[@]}" "${words[@]}" >"$folder/out"
    check 'run, flag' "$name" "$sign" "$value"
    plain "$heddle" "${kernel[@]}" "${more[@]}" "${words[@]}" >"$folder/out"
    [ "$name" = maxrregcount ] || # saxpy has fewer registers than the least limit
        check kernel "$name" "${sign/\"schema\"/\"timed\"}" "$value"
    [ -n "$variable" ] || continue
    plain env "$(more_variables "$name")" "$variable=$value" "$heddle" run atax --size tiny >"$folder/out"
    check 'run, variable' "$name" "$sign" "$value"
    plain env "$(more_variables "$name")" "$variable=$value" "LD_LIBRARY_PATH=$bin/../lib" "${program[@]}" \
        >"$folder/out"
    check 'program, variable' "$name" "$sign" "$value"
    [ "$wrong" != - ] || continue
    said=$wrong
    [ "$name" = set ] && said=sm.cuont
    if [ "${#words[@]}" = 2 ]; then
        expect_two "$said" "$heddle" run atax --size tiny "${more[@]}" "$flag" "$wrong"
        expect_two "$said" "$heddle" "${kernel[@]}" "${more[@]}" "$flag" "$wrong"
    fi
    expect_two "$said" env "$(more_variables "$name")" "$variable=$wrong" "$heddle" run atax --size tiny
    expect_two "$said" env "$(more_variables "$name")" "$variable=$wrong" "$heddle" "${kernel[@]}"
done <<<"$rows"

# The table above knows every option.
for name in $("$heddle" list options --json | sed -n 's/.*"name": "\([^"]*\)".*/\1/p'); do
    grep -q "^$name|" <<<"$rows" || fail "option $name is not tested here"
done

# A flag replaces what a variable says.
HEDDLE_MECH=swl "$heddle" run atax --size tiny --mech lrr 2>&1 | grep -q 'swl\.changes' &&
    fail 'a flag does not replace a variable'

# Commands that take some of the options read them alike, and their help says the same; the environment is for
# runs.
takes() { # takes NAME PREFIX COMMAND...
    local flag help
    flag=$(field "$1" flag) help="$2$(field "$1" help)"
    shift 2
    "$heddle" "$@" --help | tr -s ' \n' ' ' | grep -qF -- "$help" ||
        fail "$*: the help of $flag is not '$help'"
}
for command in compare profile map; do
    takes machine '' "$command"
    takes set '' "$command"
done
for name in machine set; do
    takes $name 'dump: ' config
    takes $name '--cost: ' list
done
takes mech_set '--cost: ' list
takes mech_set 'in every column that has it: ' compare
takes mech_set 'for Poise: ' map
takes maxrregcount '' disasm
expect_two 'from 16 to 255' "$heddle" disasm examples/saxpy.ptx --maxrregcount 7
expect_two 'must not be empty' "$heddle" config dump --machine ''
expect_two sm.cuont "$heddle" config dump --set sm.cuont=3
expect_two sm.cuont "$heddle" list mechanisms --cost --set sm.cuont=3
"$heddle" config dump -m fermi --set sm.count=3 --set sm.warps=8 >"$folder/out"
[ "$(grep -cE '^  (count: 3|warps: 8) ' "$folder/out")" = 2 ] || fail 'config dump misses a setting'
cmp -s <("$heddle" config dump) <(HEDDLE_MACHINE=fermi "$heddle" config dump) ||
    fail 'config dump reads the environment'
"$heddle" list mechanisms --cost --mech gto,swl --mech lrr >"$folder/out" ||
    fail 'list does not take --mech A,B'
[ $failures -eq 0 ] && echo 'every run option works'
exit $((failures > 0))
