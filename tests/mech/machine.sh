#!/usr/bin/env bash
# machine.sh HEDDLE SOURCE_FOLDER PLUGINS: mechanisms on the modelled GPU, with a kernel full of barriers:
# every policy and limit ends with the memory of the functional run; the order in which modifiers are named,
# and skipping idle time, change nothing that is printed.
set -uo pipefail
heddle=$1 root=$2 plugins=$3
export HEDDLE_HOME=$root
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
# matmul of 32 x 32 in tiles: loads, shared memory, two barriers a tile; two CTAs of eight warps on each SM
run() {
    timeout 120 "$heddle" kernel "$root/tests/programs/matmul.ptx" matmul -m fermi --set sm.count=2 \
        --grid 2,2 --block 16,16 --arg 'buf:f32[1K]=rand' --arg 'buf:f32[1K]=rand' --arg 'buf:f32[1K]' \
        --arg s32=32 "$@" 2>&1
}
hashes() { grep -o 'hash [0-9a-f]*' "$1"; }
# what does not depend on the order of the mechanisms' names: sorted lines
sorted() { sort "$1" | md5sum; }

run --functional >"$work/functional" || fail "the functional run"
[ -n "$(hashes "$work/functional")" ] || fail "no result to compare with"

check() { # MECHS [OPTIONS...]
    run --mech "$@" >"$work/out" || fail "--mech $*: $(tail -3 "$work/out")"
    [ "$(hashes "$work/out")" = "$(hashes "$work/functional")" ] ||
        fail "--mech $*: memory differs from the functional run"
    run --mech "$@" --no-skip >"$work/noskip"
    [ "$(sorted "$work/out")" = "$(sorted "$work/noskip")" ] || fail "--mech $*: differs with --no-skip"
}
for policy in gto lrr oldest two-level laws apres; do check $policy; done
check two-level --mech-set two-level.active=1
for n in 1 2 3 7 64; do check swl --mech-set swl.warps=$n; done
check swl --mech-set swl.ctas=1
run --mech swl --mech-set swl.ctas=1 --json >"$work/one.json"
run --mech swl --json >"$work/all.json"
resident() { grep -Eo '"sm.cta_cycles": *[0-9]+' "$1" | tail -1 | grep -Eo '[0-9]+$'; }
[ "$(resident "$work/one.json")" -lt "$(resident "$work/all.json")" ] || fail "swl.ctas=1 does not limit"
check str --mech-set str.degree=4
for tuple in '1 1' '3 1' '7 2' '64 64'; do
    set -- $tuple
    check tuple --mech-set tuple.n=$1 --mech-set tuple.p=$2
done
check pcal --mech-set pcal.window=100 --mech-set pcal.start_n=2
check poise --mech-set poise.period=1000 --mech-set poise.warmup=20 --mech-set poise.feature=100 \
    --mech-set poise.correct=50
check linebacker --mech-set linebacker.window=200
check linebacker --mech-set linebacker.throttle=false --mech-set linebacker.select=false
check cerf --mech-set cerf.period=200 --mech-set cerf.idle=100
check cacheext,loads
# room for one of the two CTAs of an SM: the other one is exchanged for it
check vt --set sm.warps=8
check regdram --set sm.registers=16384 --mech-set regdram.stall_cycles=0
check regmutex --mech-set regmutex.base=1
check finereg --set sm.registers=24576 --mech-set finereg.acrf=48K --mech-set finereg.pcrf=48K \
    --mech-set finereg.stall_cycles=0
grep -Eq 'finereg.rows_out +[1-9]' "$work/out" || fail "no row moved"
check unified --mech-set unified.bytes=64K
check vt,unified --mech-set unified.beside=vt --mech-set unified.bytes=64K

# a tuple of all warps is the scheduler alone, and N = p is swl: the machine's own statistics are the same
own() { grep -E '^ +"(gpu|sm|l1|xbar|l2|dram|queue)":' "$1" | md5sum; }
run --mech gto --json >"$work/gto.json"
run --mech tuple --json >"$work/tuple.json"
[ "$(own "$work/gto.json")" = "$(own "$work/tuple.json")" ] || fail "a tuple of all warps is not gto"
run --mech swl --mech-set swl.warps=3 --json >"$work/swl.json"
run --mech tuple --mech-set tuple.n=3 --mech-set tuple.p=3 --json >"$work/tuple.json"
[ "$(own "$work/swl.json")" = "$(own "$work/tuple.json")" ] || fail "the tuple (3, 3) is not swl with 3"
[ "$(own "$work/gto.json")" != "$(own "$work/tuple.json")" ] || fail "a limit of 3 changed nothing"
check pa
check pa --mech-set pa.group_warps=1 --mech-set pa.fill=true
check mascar
check mascar --mech-set mascar.entries=1 --mech-set mascar.order=oldest
check ccws,gto --mech-set ccws.k=128
check mascar,ccws,str --mech-set ccws.k=128
check two-level,swl --mech-set two-level.active=1 --mech-set swl.warps=1

check str,swl,lrr --mech-set swl.warps=2
cp "$work/out" "$work/first"
for order in swl,str,lrr lrr,swl,str swl,lrr,str lrr,str,swl str,lrr,swl; do
    run --mech $order --mech-set swl.warps=2 >"$work/out"
    [ "$(sorted "$work/out")" = "$(sorted "$work/first")" ] || fail "$order differs from str,swl,lrr"
done

# a limit of one warp must cost time, or nothing was limited
cycles() { grep -Eo 'cycles +[0-9,]+' "$1" | head -1 | tr -dc 0-9; }
run --mech swl --mech-set swl.warps=1 >"$work/one"
run --mech swl >"$work/all"
[ "$(cycles "$work/one")" -gt "$(cycles "$work/all")" ] || fail "swl.warps=1 is not slower than no limit"

# a mechanism that fills every hook and changes nothing: the machine's own statistics are the same, skipping
# and threads too
[ "$(grep -cE '^ +"l1":' "$work/gto.json")" -eq 2 ] || fail "the JSON has no line for each group"
for options in '' --no-skip '--threads 2 --threads-always'; do
    for mechs in every_hook every_hook_beside; do
        run --mech "$plugins/$mechs.so" $options --json >"$work/every.json" ||
            fail "$mechs $options: $(tail -3 "$work/every.json")"
        grep -Eq '"every_hook.on_issue":[1-9]' "$work/every.json" ||
            fail "$mechs $options: no hook was called"
        [ "$(own "$work/every.json")" = "$(own "$work/gto.json")" ] ||
            fail "$mechs $options changes the machine's statistics"
    done
done

# notes: in the JSON and in the timeline, the same with skipping and without, and on several threads
events() { grep '"mechanism":"probe-notes"' "$1"; }
run --mech "$plugins/mech_probe_notes.so" --json --timeline "$work/line.json" >"$work/notes.json"
run --mech "$plugins/mech_probe_notes.so" --json --timeline "$work/noskip_line.json" --no-skip \
    >"$work/noskip.json"
run --mech "$plugins/mech_probe_notes.so" --json --timeline "$work/threads_line.json" --threads 2 \
    --threads-always >"$work/threads.json"
grep -q '{"cycle":100,"sm":0,"mechanism":"probe-notes","kind":"down","a":1,"b":7}' "$work/notes.json" ||
    fail "no note in the JSON"
[ "$(events "$work/notes.json" | wc -l)" -gt 4 ] || fail "there are too few notes to compare"
for other in noskip threads; do
    [ "$(events "$work/notes.json")" = "$(events "$work/$other.json")" ] || fail "notes differ: $other"
    cmp -s "$work/line.json" "$work/${other}_line.json" || fail "the timeline differs: $other"
done
grep -q '"ph":"i","s":"t","name":"down"' "$work/line.json" || fail "no note in the timeline"
grep -q '"events"' "$work/gto.json" && fail "events without notes"

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
