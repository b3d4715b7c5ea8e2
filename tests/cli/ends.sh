#!/usr/bin/env bash
# ends.sh HEDDLE ENDS ENDLESS: whichever way a program ends, its statistics are written, marked partial where
# it did not end by itself; signals reach it and all that it started; nothing outlives a killed `heddle run`.
set -uo pipefail
heddle=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cp "$2" "$out/program"
cp "$3" "$out/endless"
cd "$out" || exit 1
export ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0
failures=0
fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}
is_gone() { # is_gone PID: within a few seconds
    for _ in $(seq 100); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.05
    done
    kill -9 "$1"
    return 1
}
pid_of() { sed -n "s/^$1 as //p" told; } # what a process of the test said of itself
wait_for() { # wait_for TEXT FILE
    for _ in $(seq 400); do
        grep -q "$1" "$2" 2>/dev/null && return 0
        sleep 0.05
    done
    fail "no '$1' in $2"
}
hash_of() { sed -n 's/.*"hash":"\([0-9a-f]*\)".*/\1/p' "$1"; }
plain() { # all but what the host's clock says
    grep -v -e seconds -e 'insts/s' -e kIPS -e gpu_total_sim_rate -e simulation_rate -e simulation_time "$1"
}
# ends HOW STATUS PARTIAL: two kernels, then this end
ends() {
    rm -f stats.json
    "$heddle" run -m fermi --stats stats.json -- ./program "$1" >told 2>&1
    local status=$?
    [ $status -eq "$2" ] || fail "$1: status $status, wanted $2: $(head -3 told)"
    grep -q "\"partial\":$3,\"hash\"" stats.json || fail "$1: not partial:$3"
    [ "$(grep -c '"id":' stats.json)" -eq 2 ] || fail "$1: not two kernels"
    [ "$(hash_of stats.json)" = "$whole" ] || fail "$1: other statistics than at exit"
}

# ---- ends of the program itself ----
"$heddle" run -m fermi --stats stats.json -- ./program exit >/dev/null 2>&1
whole=$(hash_of stats.json)
[ -n "$whole" ] || fail "no statistics at exit"
ends exit5 5 false
ends _exit 0 false
ends _exit5 5 false
ends queued 0 true
{
    ends abort 134 true
    ends segv 139 true
    ends kill 137 true
} 2>/dev/null

# every form is what it is at exit, less the mark
for form in '--stats s.csv --sample 100' '--stats s.txt' '--stats s.txt --format gpgpusim' \
    '--quiet --timeline s.txt' '--stats s.txt --mech swl --format json'; do
    "$heddle" run -m fermi $form -- ./program exit 2>/dev/null
    plain "$(ls s.*)" >exit.txt
    rm -f s.*
    "$heddle" run -m fermi $form -- ./program _exit 2>/dev/null
    plain "$(ls s.*)" | cmp -s - exit.txt && [ -s exit.txt ] || fail "$form: other text than at exit"
    rm -f s.*
done
{
    "$heddle" run -m fermi -- ./program kill >told 2>&1
    "$heddle" run --functional -- ./program kill >functional 2>&1
} 2>/dev/null
grep -q 'ended by signal 9' told || fail "the signal is not named"
grep -q 'PARTIAL' told || fail "the table is not partial"
grep -q 'functional run .*PARTIAL' functional ||
    fail "the table of a functional run is not partial"
"$heddle" run --functional --stats f.json -- ./program _exit 2>/dev/null
grep -q '"partial": false' f.json && grep -q '"launches": 2' f.json || fail "functional, _exit"

# ---- signals in the program's own code: to `heddle run`, and to the program ----
for number in INT TERM HUP; do
    for who in heddle program; do
        rm -f stats.json told
        # a shell without job control lets its children ignore SIGINT: env gives it back
        env --default-signal=INT "$heddle" run -m fermi --stats stats.json -- ./program wait >told 2>&1 &
        pid=$!
        wait_for 'ends: waiting' told
        [ $who = heddle ] && kill -$number $pid || kill -$number "$(pid_of 'ends: waiting')"
        wait $pid 2>/dev/null
        status=$?
        [ $status -eq $((128 + $(kill -l $number))) ] || fail "SIG$number to $who: status $status"
        grep -q '"partial":true,"hash"' stats.json || fail "SIG$number to $who: not partial"
        [ "$(hash_of stats.json)" = "$whole" ] || fail "SIG$number to $who: other statistics"
    done
done

# ---- in a kernel ----
"$heddle" run -m fermi --stats stats.json -- ./endless >told 2>&1 &
pid=$!
wait_for 'endless: started' told
sleep 0.5
kill -TERM $pid
wait $pid 2>/dev/null
[ $? -eq 143 ] || fail "SIGTERM in a kernel: status"
grep -q '"ctas":20,[^{]*"partial":true' stats.json || fail "SIGTERM in a kernel: the kernel is missing"

# ---- under a script ----
cat >script.sh <<'SH'
#!/bin/bash
echo "script as $$"
./program wait
echo "the script went on"
SH
chmod +x script.sh
for number in INT TERM HUP KILL; do
    rm -f stats.json told
    env --default-signal=INT "$heddle" run -m fermi --stats stats.json -- ./script.sh >told 2>&1 &
    pid=$!
    wait_for 'ends: waiting' told
    kill -$number $pid
    wait $pid 2>/dev/null
    is_gone "$(pid_of 'ends: waiting')" || fail "SIG$number: the program outlives the script"
    is_gone "$(pid_of script)" || fail "SIG$number: the script outlives heddle run"
    [ $number = KILL ] || [ "$(hash_of stats.json)" = "$whole" ] ||
        fail "SIG$number: statistics under a script"
done
"$heddle" run -m fermi -- ./program wait >told 2>&1 &
pid=$!
wait_for 'ends: waiting' told
kill -KILL $pid
wait $pid 2>/dev/null
is_gone "$(pid_of 'ends: waiting')" || fail "the program outlives a killed heddle run"

# ---- Ctrl-C on a terminal: the program and its script get it there ----
if command -v script >/dev/null; then
    for what in './program wait' ./script.sh; do
        rm -f stats.json told keys
        mkfifo keys
        env --default-signal=INT timeout -k 5 60 \
            script -qec "'$heddle' run -m fermi --stats stats.json -- $what" /dev/null <keys >told 2>&1 &
        pid=$!
        exec 9>keys
        wait_for 'ends: waiting' told
        printf '\003' >&9
        wait $pid
        exec 9>&-
        is_gone "$(pid_of 'ends: waiting' | tr -d '\r')" || fail "Ctrl-C: $what does not end"
        grep -q '"partial":true,"hash"' stats.json || fail "Ctrl-C: $what: not partial"
        grep -q 'went on' told && fail "Ctrl-C: the script goes on"
    done
else
    echo "there is no script (util-linux) to make a terminal: Ctrl-C is not typed"
fi

# a program that its script leaves behind goes on, and writes its statistics itself
cat >behind.sh <<'SH'
#!/bin/bash
(sleep 1; ./program exit) >/dev/null 2>&1 &
SH
chmod +x behind.sh
rm -f stats.json
"$heddle" run -m fermi --stats stats.json -- ./behind.sh
[ $? -eq 0 ] && [ ! -e stats.json ] || fail "heddle run waits for what the script left behind"
wait_for '"partial":false' stats.json

# two programs of a script, the first ends suddenly: the last one's statistics are kept, as always
printf '#!/bin/bash\n./program kill 1\n./program exit 2\n' >two.sh
chmod +x two.sh
"$heddle" run -m fermi --stats stats.json -- ./two.sh 2>/dev/null
[ "$(hash_of stats.json)" = "$whole" ] || fail "two programs of a script"

[ $failures -eq 0 ] && echo "every end keeps the statistics"
exit $((failures > 0))
