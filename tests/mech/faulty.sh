#!/usr/bin/env bash
# faulty.sh HEDDLE SOURCE_FOLDER PLUGINS: a mechanism that crashes, gives bad answers or calls a port as it
# must not: the run ends with exit status 1 and a message that names the mechanism, its hook, SM and cycle,
# and leaves statistics that are marked partial; on one thread and on several.
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
# fails HOOK HOW CALL STATUS MESSAGE [OPTIONS...]: one run of a small product of matrices
fails() {
    local hook=$1 how=$2 call=$3 status=$4 message=$5 got
    shift 5
    rm -f "$work/stats.json"
    timeout 60 "$heddle" kernel "$root/tests/programs/matmul.ptx" matmul -m fermi --grid 4,4 --block 16,16 \
        --arg 'buf:f32[4K]=rand' --arg 'buf:f32[4K]=rand' --arg 'buf:f32[4K]' --arg s32=64 \
        --set l1.size=2K --mech "$plugins/faulty.so" --mech-set faulty.hook="$hook" \
        --mech-set faulty.how="$how" --mech-set faulty.call="$call" --stats "$work/stats.json" "$@" \
        >"$work/out" 2>&1
    got=$?
    [ $got -eq "$status" ] || fail "$hook $how $call $*: exit status $got: $(tail -3 "$work/out")"
    grep -Fq "heddle: error: mechanism 'faulty', $message" "$work/out" ||
        fail "$hook $how $call $*: $(tail -3 "$work/out")"
    [ "$status" -eq 1 ] || return
    grep -q '"partial":true,"hash"' "$work/stats.json" || fail "$hook $how $call $*: no partial statistics"
    grep -q '"name":"matmul"' "$work/stats.json" || fail "$hook $how $call $*: the kernel was not recorded"
    [ "$(tail -c 2 "$work/stats.json")" = "}" ] || fail "$hook $how $call $*: the statistics are cut off"
}

# every hook, at different moments
for hook in pick take_miss victim line_touched line_inserted may_allocate may_miss on_issue on_next \
    on_l1_access on_l1_evict on_l1_fill on_l1_level on_warp on_barrier on_cta on_memory_read on_ring \
    extra_hit admit on_timer; do
    fails $hook segv 1 1 "$hook, SM "
    fails $hook segv 2 1 "$hook, SM " --threads 3 --threads-always
done
fails on_launch segv 1 1 "on_launch, SM 0, cycle "
fails on_kernel segv 1 1 "on_kernel, SM 0, cycle "
fails on_kernel segv 2 1 "on_kernel, SM 0, cycle "
fails on_prefetch segv 1 1 "on_prefetch, SM 0, cycle "
fails on_rows_lost segv 1 1 "on_rows_lost, SM 0, cycle "
fails on_gpu_timer segv 1 1 "on_gpu_timer, cycle 500: it crashed (SIGSEGV at address 0x8)"
fails init segv 1 2 "init, SM 0, cycle 0: it crashed (SIGSEGV at address 0x8)"
fails gpu_init segv 1 2 "gpu_init, cycle 0: it crashed (SIGSEGV at address 0x8)"
fails check segv 1 2 "check, cycle 0: it crashed (SIGSEGV at address 0x8)"
fails uses segv 1 2 "uses, cycle 0: it crashed (SIGSEGV at address 0x8)"
fails gpu_timer_period segv 1 2 "gpu_timer_period, cycle 0: it crashed (SIGSEGV at address 0x8)"
"$heddle" list mechanisms --cost -m fermi --mech "$plugins/faulty.so" --mech-set faulty.hook=cost \
    >"$work/out" 2>&1
[ $? -eq 2 ] && grep -q "^heddle: error: mechanism 'faulty', cost: it crashed" "$work/out" ||
    fail "cost: $(tail -3 "$work/out")"

# hooks of slices and roles: bfs has more than one launch, and copies between them
for at in 'none 0' 'cache_sms 2' 'helper 2' 'slice_init 1' 'take_request 1' 'on_dram 1' 'on_host_write 1' \
    'choose_sms 1' 'on_retire 1' 'keeps_line 1'; do
    read -r hook status <<<"$at"
    for options in '' '--threads 3 --threads-always'; do
        rm -f "$work/stats.json"
        timeout 60 "$heddle" run bfs --size tiny -m rtx3080 --mech "$plugins/faulty_slice.so" --quiet \
            --mech-set faulty-slice.hook=$hook --stats "$work/stats.json" $options >"$work/out" 2>&1
        [ $? -eq "$status" ] || fail "$hook $options: exit status, not $status: $(tail -3 "$work/out")"
        [ $hook = none ] ||
            grep -q "^heddle: error: mechanism 'faulty-slice', $hook, .*: it crashed" "$work/out" ||
            fail "$hook $options: $(tail -3 "$work/out")"
        [ "$status" -ne 1 ] || grep -q '"partial":true,"hash"' "$work/stats.json" ||
            fail "$hook $options: no partial statistics"
    done
done

# ports of slices, and answers of take_request: MESSAGE, of what the slice says
fails_slice() { # HOW MESSAGE
    for options in '' '--threads 3 --threads-always'; do
        rm -f "$work/stats.json"
        timeout 60 "$heddle" run bfs --size tiny -m rtx3080 --mech "$plugins/faulty_slice.so" --quiet \
            --mech-set faulty-slice.hook=take_request --mech-set faulty-slice.how=$1 \
            --stats "$work/stats.json" $options >"$work/out" 2>&1
        [ $? -eq 1 ] || fail "$1 $options: exit status: $(tail -3 "$work/out")"
        grep -Eq "^heddle: error: mechanism 'faulty-slice', $2" "$work/out" ||
            fail "$1 $options: $(tail -3 "$work/out")"
        grep -q '"partial":true,"hash"' "$work/stats.json" || fail "$1 $options: no partial statistics"
    done
}
fails_slice apply 'apply in take_request, cycle [0-9]+: request [0-9]+ has taken effect, or is neither'
fails_slice reply 'reply in take_request, cycle [0-9]+: request [0-9]+, which it has not claimed'
fails_slice park 'park in take_request, cycle [0-9]+: request [0-9]+ is parked, or is not a load'
fails_slice far_read 'dram_read in take_request, cycle [0-9]+: address 0x[0-9a-f]+, which is not that of'
fails_slice odd_read 'dram_read in take_request, cycle [0-9]+: address 0x[0-9a-f]+, which is not that of'
fails_slice no_sectors 'dram_read in take_request, cycle [0-9]+: sectors 0 of a line'
fails_slice all_sectors 'dram_write in take_request, cycle [0-9]+: sectors 0xffffffff of a line'
fails_slice far_write 'dram_write in take_request, cycle [0-9]+: address 0xf{16}, which is not that of a line'
fails_slice window 'window in take_request, cycle [0-9]+: line 1048576 of [0-9]+$'
fails_slice line 'line in take_request, cycle [0-9]+: address 0x80, which is not that of a line in device'
fails_slice memory 'memory in take_request, cycle [0-9]+: 18446744073709551615 bytes; it has 0'
fails_slice park_twice 'park in take_request, cycle [0-9]+: request [0-9]+ is parked, or is not'
fails_slice apply_twice 'apply in take_request, cycle [0-9]+: request [0-9]+ has taken effect, or is neither'
fails_slice reply_early 'reply in take_request, cycle [0-9]+: request [0-9]+ has to take effect before'
fails_slice reply_twice 'reply in take_request, cycle [0-9]+: request [0-9]+, which it has not claimed'
fails_slice pass_window 'take_request, cycle [0-9]+: answered PASS to a request for the window, which it has'
fails_slice wait_window 'take_request, cycle [0-9]+: answered WAIT to a request for the window, which it has'
fails_slice bad_answer 'take_request, cycle [0-9]+: answered 3, which is not in enum mech_take'
fails_slice reply_and_pass 'take_request, cycle [0-9]+: answered PASS after it had used a port on the request'

# every way to crash
for options in '' '--threads 3 --threads-always'; do
    fails on_issue abort 20 1 'on_issue, SM ' $options
    grep -q 'it aborted' "$work/out" || fail "abort: $(tail -3 "$work/out")"
    fails on_issue assert 20 1 'on_issue, SM ' $options
    grep -q 'faulty.c:[0-9]*: assertion failed: inside == 9' "$work/out" &&
        grep -q 'it aborted' "$work/out" || fail "assert: $(tail -3 "$work/out")"
    fails on_issue divide 20 1 'on_issue, SM ' $options
    grep -q 'SIGFPE' "$work/out" || fail "divide: $(tail -3 "$work/out")"
    # the address sanitizer ends the process itself
    grep -q __asan_init "$heddle" || fails on_issue free 20 1 'on_issue, SM ' $options
    fails on_issue overflow 20 1 'on_issue, SM ' $options
done

# ports
fails on_timer give_rows 2 1 'registers_give in on_timer, SM 0, cycle 200: 2 rows from 3 on, but it does not'
fails on_timer give_twice 2 1 'registers_give in on_timer, SM 0, cycle 200: 1 rows from'
fails on_l1_fill answer_miss 1 1 'miss_answer in on_l1_fill, SM '
fails take_miss forward_miss 1 1 'miss_forward in take_miss, SM '
fails on_timer far_timer 1 1 'set_timer in on_timer, SM 0, cycle 100: now is 18446744073709551612, which'
fails init big_memory 1 2 'memory in init, SM 0, cycle 0: 18446744073709551615 bytes; it has 0'
fails init big_queue 1 2 'reexec_queue in init, SM 0, cycle 0: 4294967295 entries; 65536 are the most'
fails on_issue note 3 1 'note in on_issue, SM '
fails on_issue allow_issue 3 1 'allow_issue in on_issue, SM '
fails on_issue bank_access 3 1 'bank_access in on_issue, SM '
fails on_issue l1_lines 3 1 'l1_lines in on_issue, SM '
fails on_issue warp_issued 3 1 'warp_issued in on_issue, SM '

# answers
fails pick bad_answer 5 1 'pick, SM '
fails pick late_answer 5 1 'pick, SM '
grep -q 'picked warp 1000 of bank 0, which is not ready' "$work/out" || fail "pick: $(tail -3 "$work/out")"
fails take_miss bad_answer 2 1 'take_miss, SM '
fails take_miss late_answer 2 1 'take_miss, SM '
fails victim bad_answer 2 1 'victim, SM '

# what is odd and allowed: the run ends as it should
timeout 60 "$heddle" kernel "$root/tests/programs/matmul.ptx" matmul -m fermi --grid 4,4 --block 16,16 \
    --arg 'buf:f32[4K]=rand' --arg 'buf:f32[4K]=rand' --arg 'buf:f32[4K]' --arg s32=64 \
    --mech "$plugins/faulty.so" --mech-set faulty.hook=on_issue --mech-set faulty.how=far_prefetch \
    >"$work/out" 2>&1 || fail "a prefetch from the end of all addresses: $(tail -3 "$work/out")"

# a CUDA program: it ends in its second kernel, the first one is whole
for options in '' '--threads 3 --threads-always'; do
    rm -f "$work/stats.json"
    "$heddle" run bfs --size tiny --mech "$plugins/faulty.so" --mech-set faulty.hook=on_launch \
        --mech-set faulty.call=2 --stats "$work/stats.json" $options >"$work/out" 2>&1
    [ $? -eq 1 ] || fail "bfs $options: exit status"
    grep -Fq "heddle: error: mechanism 'faulty', on_launch, SM 0" "$work/out" ||
        fail "bfs $options: $(cat "$work/out")"
    [ "$(grep -o '"partial":[a-z]*,"overlapped"' "$work/stats.json" | tr '\n' ' ')" = \
        '"partial":false,"overlapped" "partial":true,"overlapped" ' ] || fail "bfs $options: its kernels"
done

# files that are cut off
for bytes in 0 10 100 5000 -100; do
    head -c $bytes "$plugins/faulty.so" >"$work/cut.so"
    "$heddle" run bfs --size tiny --mech "$work/cut.so" >"$work/out" 2>&1
    [ $? -eq 2 ] || fail "a file of $bytes bytes: exit status"
    grep -q "cannot load the mechanism '.*cut.so': it is" "$work/out" ||
        fail "a file of $bytes bytes: $(cat "$work/out")"
done

[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
