#!/usr/bin/env bash
# compare.sh HEDDLE IS_JSON: mechanisms side by side: what is printed against what the store has, that runs
# are made once, and what is refused.
set -uo pipefail
heddle=$1
is_json=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/bench.bash"
cd "$out" || exit 1
unset HEDDLE_WORKLOADS # those of the suite
compare() { timeout -k 10 200 "$heddle" compare "$@"; }
two=(bfs nn -m fermi --size tiny --store r.db --mech lrr,gto,two-level+str --show l1.aml)
sql() { "$heddle" query r.db --csv --sql "$1" | tail -n +2; }

# ---- the table ----
compare "${two[@]}" -n >list 2>told
is "dry run: status" $? 0
is "dry run: a line a run" "$(grep -c '^to make' list)" 6
check "dry run: makes no store" [ ! -e r.db ]
compare "${two[@]}" >table 2>told
is "status" $? 0
check "six runs are made" grep -q ' 6 runs made, 0 were in r.db, .*0 failed' told
check "the baseline is named" grep -q '^speedup: speed-up over lrr$' table
check "a table of what each did" grep -q '^two-level+str: what it did$' table
check "its statistics are the heads" grep -Eq '^workload +two-level.demotions +two-level.promotions' table
check "the statistic that was asked for" grep -q '^l1.aml: ' table
is "the baseline is 1" "$(awk '/^speedup/ { on = 1 } /^l1-hit/ { on = 0 }
    on && ($1 == "bfs" || $1 == "nn" || $1 == "mean") { print $2 }' table | sort | uniq -c | xargs)" "3 1.000"
is "nothing is too wide" "$(awk 'length($0) > 80' table | wc -l)" 0
compare "${two[@]}" >again 2>told
check "runs are not made again" grep -q ' 0 runs made, 6 were in r.db' told
check "and give the same table" cmp -s table again

# ---- the numbers are the store's ----
compare "${two[@]}" --json >json 2>told
check "JSON" "$is_json" < <(echo "["; cat json; echo "]")
# of WORKLOAD MECHANISM KEY: a number of the JSON, a run a line
of() {
    grep "\"workload\": \"$1\".*\"mechanism\": \"$2\"" json | grep -oE "\"$3\": [-0-9.e+]+" | cut -d' ' -f2
}
stat() { # stat WORKLOAD MECHANISM NAME: of the run whose first mechanism this is
    sql "SELECT value FROM stats WHERE workload = '$1' AND name = '$3' AND mechs LIKE '[\"$2\"%'"
}
near() { # near WHAT A B
    awk -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(a b != "" && d * d <= 1e-9 * (b * b + 1e-9)) }' &&
        return
    echo "FAILED: $1: $2 and $3"
    failures=$((failures + 1))
}
for w in bfs nn; do
    base=$(stat $w lrr cycles)
    near "$w: speed-up of gto" "$(of $w gto speedup)" "$(awk "BEGIN { print $base / $(stat $w gto cycles) }")"
    near "$w: speed-up of both" "$(of $w 'two-level+str' speedup)" \
        "$(awk "BEGIN { print $base / $(stat $w two-level cycles) }")"
    near "$w: hit rate" "$(of $w gto l1_hit_rate)" "$(stat $w gto l1.hit_rate)"
    near "$w: what str did" "$(of $w 'two-level+str' str.loads)" "$(stat $w two-level str.loads)"
    near "$w: what was asked for" "$(of $w lrr l1.aml)" "$(stat $w lrr l1.aml)"
done
mean=$(sed -n '/"means"/,$p' json | grep '"gto"' | grep -oE '"speedup": [0-9.]+' | cut -d' ' -f2)
product="$(of bfs gto speedup) * $(of nn gto speedup)"
near "the mean is geometric" "$mean" "$(awk "BEGIN { print sqrt($product) }")"

# ---- settings ----
compare bfs -m fermi --size tiny --store s.db --mech none,swl --mech-set swl.warps=2 --set l1.mshrs=16 \
    >table 2>told
is "settings: status" $? 0
"$heddle" query s.db --csv --sql "SELECT command FROM run ORDER BY command" >commands
is "settings: the machine's in both" "$(grep -c 'l1.mshrs=16' commands)" 2
is "settings: a mechanism's where it is" "$(grep -c 'swl.warps=2' commands)" 1
is "settings: none attaches none" "$(tail -n +2 commands | grep -vc -- '--mech')" 1

# ---- energy: the same runs, and what `heddle run --energy` says of one ----
compare "${two[@]}" --energy >table 2>told
is "energy: status" $? 0
check "energy: no run is made" grep -q ' 0 runs made, 6 were in r.db' told
check "energy: over the baseline's" grep -q '^energy: energy over that of lrr' table
check "energy: in watts" grep -q '^power: power of the chip in W$' table
check "energy: parts are for the page" [ "$(grep -c 'energy-parts' table)" -eq 0 ]
compare "${two[@]}" --energy --json >json 2>told
is "energy: the baseline is 1" "$(of nn lrr energy)" 1
"$heddle" run nn --size tiny -m fermi --mech two-level,str --energy -q --stats run.json >/dev/null 2>told
watts=$(grep -oE '"watts":[-0-9.e+]+' run.json | tail -1 | cut -d: -f2)
near "energy: watts as the run prints them" "$(of nn two-level+str watts)" "$watts"
compare "${two[@]}" --energy --set energy= >table 2>told
is "energy: a machine without a table is refused" $? 2
check "energy: and told why" grep -q "no column's machine names a table of energies" told

# ---- what is refused, before any run ----
refused() { # refused PATTERN ARGS...
    compare "${@:2}" --store no.db >told 2>&1
    is "heddle compare ${*:2}: status" $? 2
    check "heddle compare ${*:2}: /$1/" grep -Eq -- "$1" told
}
refused "no mechanism is called 'gtoo'" bfs --mech lrr,gtoo
refused "did you mean 'gto'" bfs --mech lrr,gtoo
refused "did you mean 'str'" bfs --mech lrr,swl+stt
refused 'a mechanism is missing' bfs --mech lrr,,gto
refused 'a mechanism is missing' bfs --mech lrr,gto+
refused "did you mean 'bfs'" bsf --mech lrr,gto
refused 'it has tiny, small, paper' bfs --mech lrr,gto --size huge
refused "did you mean 'fermi'" bfs --mech lrr,gto -m fermii
refused "nothing to compare 'gto' with" bfs --mech gto
refused "'gto' is there twice" bfs --mech gto,lrr,gto
refused 'no mechanism is named' bfs
refused 'no workload is named' --mech lrr,gto
refused 'lrr.*gto|gto.*lrr' bfs --mech lrr,lrr+gto
refused 'sets a mechanism that no column has' bfs --mech lrr,gto --mech-set swl.warps=2
refused 'from 1 to ' bfs --mech lrr,swl --mech-set swl.warps=0
refused "did you mean 'l1.mshrs'" bfs --mech lrr,gto --set l1.mshr=4
refused "did you mean 'l1.aml'" bfs --mech lrr,gto --show l1.amll
refused 'do not go together' bfs --mech lrr,gto --json -o page.html
check "nothing was run" [ ! -e no.db ]

# ---- the page ----
if [ -e "$(dirname "$heddle")/../share/heddle/report.html" ]; then
    compare "${two[@]}" -o page.html >table 2>told
    is "page: status" $? 0
    check "page: the figure" grep -q 'speed-up over lrr' page.html
    check "page: its command" grep -qF "\"command\":\"heddle compare ${two[*]} -o page.html" page.html
fi
[ $failures -eq 0 ] && echo "compare: ok"
exit $((failures != 0))
