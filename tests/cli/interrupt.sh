#!/usr/bin/env bash
# interrupt.sh HEDDLE ENDLESS SOURCE_FOLDER: Ctrl-C ends a run with the statistics so far, marked partial, as
# table and as JSON; on a terminal there is one progress line, drawn over itself, narrower than the terminal,
# and gone at the end.
set -uo pipefail
heddle=$1
endless=$2
cd "$3" || exit 1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export ASAN_OPTIONS=detect_leaks=0
failures=0
check() { # check WHAT COMMAND...
    local what=$1
    shift
    "$@" >/dev/null && return
    echo "FAILED: $what"
    failures=$((failures + 1))
}

wait_for() { # wait_for COMMAND...: half a minute
    for _ in $(seq 600); do
        "$@" && return
        sleep 0.05
    done
    check "waited in vain: $*" false
}
# interrupted FILE OPTIONS...: an endless program, and Ctrl-C while it is in its kernel; both streams go into
# FILE
interrupted() {
    local file=$1 pid
    shift
    # a shell without job control lets its children ignore SIGINT: env gives it back
    env --default-signal=INT "$heddle" run -m fermi "$@" -- "$endless" >"$file" 2>&1 &
    pid=$!
    wait_for grep -q 'endless: started' "$file"
    sleep 0.5
    kill -INT $pid
    wait $pid
}

# ---- Ctrl-C ----
interrupted "$out/table"
check "the program ends by the signal" [ $? -eq 130 ]
check "the table is partial" grep -q 'PARTIAL' "$out/table"
check "the table has cycles" grep -Eq '^  cycles +[1-9]' "$out/table"
check "the program did start" grep -q 'endless: started' "$out/table"
check "the program goes no further" bash -c "! grep -q 'came to an end' '$out/table'"
check "no progress line where there is no terminal" bash -c "! grep -q 'insts/s' '$out/table'"

interrupted "$out/log" --stats "$out/run.json"
check "the run's JSON is partial" grep -q '"partial":true,"hash"' "$out/run.json"
check "the kernel's JSON is partial" grep -q '"ctas":20,[^{]*"partial":true' "$out/run.json"
interrupted "$out/text" --stats=gpgpusim
check "GPGPU-Sim's words come without an end" bash -c \
    "grep -q gpu_sim_cycle '$out/text' && ! grep -q 'exit detected' '$out/text'"

cat >"$out/spin.ptx" <<'PTX'
.version 7.0
.target sm_52
.address_size 64
.visible .entry spin()
{
.reg .u32 %n;
mov.u32 %n, 0;
LOOP:
add.u32 %n, %n, 1;
bra LOOP;
}
PTX
spin() { timeout -k 60 -s INT 2 "$heddle" kernel "$out/spin.ptx" spin --grid 4 --block 64 -m fermi "$@"; }
spin >"$out/kernel" 2>&1 &
spin --json >"$out/kernel.json" 2>/dev/null
wait
check "heddle kernel: the table is partial" grep -q 'PARTIAL' "$out/kernel"
check "heddle kernel: the JSON is partial" grep -q '"partial":true' "$out/kernel.json"

# ---- the progress line ----
if ! command -v script >/dev/null; then
    echo "SKIPPED: there is no script (util-linux) to make a terminal: the progress line is not looked at"
    [ $failures -eq 0 ] && exit 77
    exit 1
fi
is_drawn() { [ "$(tr '\r' '\n' <"$out/terminal" | grep -c 'a_kern')" -ge 4 ]; }
# look COLUMNS PATTERN: Ctrl-C is typed when the line was drawn a few times
look() {
    local columns=$1 pattern=$2 redraws widest pid
    rm -f "$out/keys" "$out/terminal"
    mkfifo "$out/keys"
    env --default-signal=INT TERM=xterm timeout -k 5 60 \
        script -qec "stty cols $columns; exec '$heddle' run -m fermi -- '$endless'" /dev/null \
        <"$out/keys" >"$out/terminal" 2>&1 &
    pid=$!
    exec 9>"$out/keys"
    wait_for is_drawn
    printf '\003' >&9
    wait $pid
    exec 9>&-
    # what was drawn, a line each: between two erasures
    tr -d '\n' <"$out/terminal" | sed 's/\r\x1b\[K/\n/g' | sed '1d;$d' | sed 's/\^C.*//' >"$out/lines"
    redraws=$(grep -c . "$out/lines")
    widest=$(awk '{ if (length($0) > n) n = length($0) } END { print n + 0 }' "$out/lines")
    check "$columns columns: it is drawn again and again ($redraws times)" [ "$redraws" -ge 3 ]
    check "$columns columns: it fits (widest $widest)" [ "$widest" -lt "$columns" ]
    check "$columns columns: every one is /$pattern/" bash -c "! grep -Evq '$pattern' '$out/lines'"
    check "$columns columns: the summary comes after the line was erased" \
        bash -c "tr -d '\n' <'$out/terminal' | sed 's/\r\x1b\[K/\n/g' | tail -n 1 | grep -q 'fermi: 15 SMs'"
    check "$columns columns: the line breaks nowhere" bash -c \
        "! sed 's/\r\x1b\[K/\n@/g' '$out/terminal' | grep '^@a_kernel' | grep -q \$'\r\$'"
    [ $failures -eq 0 ] || cat -v "$out/lines" | head -5
}
look 120 '^a_kernel[a-z_]*(\.\.)?: 20/100 CTAs, [0-9.]+[kMG]? cycles, [0-9.]+[kMG]? insts/s, left [0-9:]+$'
look 70 '^a_kernel[a-z_]*\.\.: 20/100 CTAs, [0-9.]+[kMG]? cycles, [0-9.]+[kMG]? insts/s, left [0-9:]+$'
look 30 '^a_kern\.\.: 20/100 CTAs, '
[ $failures -eq 0 ] && echo "Ctrl-C and the progress line: all as it should be"
[ $failures -eq 0 ]
