#!/usr/bin/env bash
# profile.sh HEDDLE IS_JSON SOURCE_DIR: profiles of warp tuples from runs, models from profiles, maps: what is
# written against what the store has, that runs are made once, and what is refused.
set -uo pipefail
heddle=$1
is_json=$2
source_dir=$3
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/bench.bash"
cd "$out" || exit 1
unset HEDDLE_WORKLOADS # those of the suite
run() { timeout -k 10 200 "$heddle" "$@"; }
two=(bfs:tiny -m kepler --step 7 --cycles 3500 --store r.db)

# ---- heddle profile ----
run profile "${two[@]}" -n >list 2>told
is "dry run: status" $? 0
is "dry run: the baseline" "$(grep -c '^to make' list)" 1
check "dry run: why no more" grep -q 'how many warps fit' told
check "dry run: makes no store" [ ! -e r.db ]
run profile "${two[@]}" -o p.profile >table 2>told
is "profile: status" $? 0
check "the second sweep has the tuples, the baseline is there" grep -q ' 2 runs made, 1 were in r.db' told
is "the grid is 1 and 8 of 8 warps" "$(grep '^n ' p.profile | sed 's/:[0-9]*//g' | sort -u | xargs)" \
    "n 1 1 n 8 1 8"
is "launches of 3500 cycles alone" "$(awk '/^kernel/ && $6 < 3500' p.profile | wc -l)" 0
launches=$(awk '/^kernel/ { print $4 }' p.profile | paste -sd,)
cycles() { # cycles SETTINGS: of the launches that the profile has, from the store
    "$heddle" query r.db --csv --sql "SELECT k.cycles FROM kernel k JOIN run r ON r.id = k.run WHERE
        r.mech_settings = '$1' AND k.id IN ($launches) ORDER BY k.id" | tail -n +2 | xargs
}
is "cycles with all warps" "$(awk '/^kernel/ { print $6 }' p.profile | xargs)" "$(cycles '[]')"
is "cycles at (1, 1)" "$(sed -n 's/^n 1 1://p' p.profile | xargs)" "$(cycles '["tuple.n=1","tuple.p=1"]')"
is "cycles at (8, 1)" "$(sed -n 's/^n 8 1:\([0-9]*\).*/\1/p' p.profile | xargs)" \
    "$(cycles '["tuple.n=8","tuple.p=1"]')"
key=$("$heddle" query r.db --csv --sql "SELECT key FROM run WHERE mechs = '[]'" | tail -n 1)
launch=$(awk '/^kernel/ { print $4; exit }' p.profile)
"$heddle" query r.db --run "$key" --document >document
stats='"(sm.(warp_insts|loads)|l1.(load_(accesses|misses)|intra_warp_hits|miss_latency_(sum|count)))":[0-9]+'
counted=$(awk -v id="$launch" '/"id":/ { on = index($0, "\"id\":" id ",") > 0 } on' document |
    grep -oE "$stats" |
    sort -u | cut -d: -f2 | sort -n | xargs)
written=$(awk '/^all/ { print; exit }' p.profile | cut -d' ' -f2- | tr ' ' '\n' | sort -n | xargs)
is "what was counted with all warps" "$written" "$counted"
run profile "${two[@]}" -o again.profile >table 2>told
check "runs are not made again" grep -q ' 0 runs made, 3 were in r.db' told
check "and give the same table" cmp -s p.profile again.profile
run profile "${two[@]}" --kernel Kernel2 >/dev/null 2>told
is "a kernel without such launches: status" $? 1
check "a kernel without such launches is named" grep -q 'no launch of Kernel2 has 3500 cycles' told

# ---- heddle map ----
run map bfs --size tiny -m kepler --step 7 --store r.db --json --mech-set poise.warmup=50 \
    --mech-set poise.feature=200 --mech-set poise.correct=100 --mech-set poise.period=5000 >map.json 2>told
is "map: status" $? 0
check "map: JSON" "$is_json" < <(echo "["; cat map.json; echo "]")
check "map: the profile's runs are used" grep -q ' 1 runs made, 3 were in r.db' told
check "map: Poise's path" grep -q '"kind": "settle"' map.json
app=$(dirname "$heddle")/workloads/bfs
run map -m kepler --step 7 --no-poise --store app.db -o map.svg -- "$app" --size tiny >map 2>told
is "map of a program: status" $? 0
check "map of a program" grep -q '^bfs.app, given, on kepler: speed in % of that with all 8 warps' map
check "map of a program: as fast as itself" grep -Eq '^   8 \| +100' map
check "map of a program: a picture" grep -q '^</svg>' map.svg
refused() { # refused PATTERN COMMAND ARGS...
    run "${@:2}" >told 2>&1
    is "heddle ${*:2}: status" $? 2
    check "heddle ${*:2}: /$1/" grep -Eq -- "$1" told
}
refused "there is nothing to map" map
refused "one workload or one program" map bfs nn
refused "cannot run './nothing'" map -- ./nothing
refused "no size 'huge'" profile bfs:huge
refused "did you mean 'bfs'" profile bfss
refused "step is a number" profile bfs --step 0
refused "no workload is named" profile

# ---- heddle train ----
refused "bfs is in the evaluation set" train p.profile
refused "exclude bfs" train p.profile
refused "fewer rows than weights" train p.profile --exclude bfs
refused "no kernel of 'nn'" train p.profile --exclude nn
refused "cannot read nothing.profile" train nothing.profile
refused "dispersion takes a number" train p.profile --exclude bfs --dispersion much
sed 's/^n 1 1:/n 1 2:/' p.profile >bad.profile
refused "bad.profile:[0-9]+:5: error: a point is p:CYCLES" train bad.profile
sed 's/^machine .*/machine fermi/' p.profile >other.profile
refused "a profile of 'fermi', the one before it of 'kepler'" train p.profile other.profile

# ---- what is shipped ----
models=$source_dir/models
for m in kepler maxwell rtx3080; do
    run train "$models/poise-$m.profile" --leave-one-out -o model >table 2>told
    is "the shipped profile of $m: status" $? 0
    check "gives the shipped model of $m" cmp model "$models/poise-$m.model"
    run run nn --size tiny -m $m --mech poise --mech-set poise.model="$models/poise-$m.model" >told 2>&1
    is "the model of $m can be run" $? 0
done
refused "graph-ccl is in the training set" train "$models/poise-kepler.profile" --evaluate \
    "$models/poise-kepler.profile"
run run nn --size tiny -m kepler --mech poise \
    --mech-set poise.model="$models/poise-published.model" >told 2>&1
is "the published model can be run" $? 0
[ "$failures" = 0 ]
