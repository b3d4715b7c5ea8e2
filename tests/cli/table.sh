#!/usr/bin/env bash
# table.sh HEDDLE: the printed table says what the JSON of the same run says, number by number: of a kernel,
# and in the list of a program with many launches.
set -uo pipefail
heddle=$1
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
export ASAN_OPTIONS=detect_leaks=0
failures=0

json() { # json NAME [KIND]: a number of the kernel, the first scope of the file
    grep -o "\"$1\":-\?[0-9.e+]\+" run.json | head -n 1 | cut -d: -f2
}
# says WHAT PRINTED EXPRESSION FORMAT: the expression of JSON numbers, in the table's format
says() {
    local wanted
    wanted=$(awk "BEGIN { printf \"$4\", $3 }")
    [ -n "$2" ] && [ "$2" = "$wanted" ] && return
    echo "FAILED: $1: the table says '$2', the JSON $wanted"
    failures=$((failures + 1))
}
line() { # line BEGINNING FIELD: of the table, without commas and signs of percent
    grep -m 1 "^  $1" run.txt | tr -d ',%' | awk "{ print \$$2 }"
}
share() { says "issue slots, $1" "$(grep -A1 'issue slots' run.txt | awk -v name="$1" '
    NR == 1 { for (i = 3; i <= NF; i++) if ($i == name) at = i - 1 } NR == 2 { print $at }')" \
    "$(json "sm.share_$2")" %.1f; }

for machine in fermi maxwell; do
    for form in json txt; do
        "$heddle" run nn --size tiny -m $machine --stats run.$form >/dev/null 2>&1 || echo "FAILED: run"
    done
    khz=$(json core_khz)
    says time "$(line cycles 3)" "$(json cycles) * 1000 / $khz" %.2f
    [ "$(line cycles 4)" = us ] || { echo "FAILED: unit of time" && failures=$((failures + 1)); }
    says cycles "$(line cycles 2)" "$(json cycles)" %d
    says CTAs "$(line cycles 6)" "$(json ctas)" %d
    says 'warp insts' "$(line 'warp insts' 3)" "$(json sm.warp_insts)" %d
    says IPC "$(line 'warp insts' 5)" "$(json ipc)" %.3f
    says 'active lanes' "$(line 'warp insts' 8)" "$(json sm.thread_insts) / $(json sm.warp_insts)" %.1f
    says 'of threads' "$(line 'of threads' 3)" "$(json sm.thread_insts)" %d
    says 'IPC of threads' "$(line 'of threads' 5)" "$(json thread_ipc)" %.2f
    says occupancy "$(line occupancy 2)" "$(json sm.occupancy)" %.1f
    says 'lines a load' "$(line occupancy 8)" "$(json sm.load_transactions) / $(json sm.loads)" %.2f
    says 'L1 accesses' "$(line 'L1 access' 3)" "$(json l1.accesses)" %d
    says 'L1 hits' "$(line 'L1 access' 5)" "$(json l1.hit_rate)" %.1f
    says 'L1 misses' "$(line 'L1 access' 9)" "$(json l1.misses) * 100 / $(json l1.accesses)" %.1f
    says AML "$(line 'L1 access' 11)" "$(json l1.aml)" %.0f
    says 'L2 accesses' "$(line 'L2 access' 3)" "$(json l2.accesses)" %d
    says 'L2 misses' "$(line 'L2 access' 9)" "$(json l2.misses) * 100 / $(json l2.accesses)" %.1f
    says 'DRAM reads' "$(line 'DRAM  ' 2)" "$(json dram.reads)" %d
    says 'DRAM rows' "$(line 'DRAM  ' 8)" "$(json dram.row_hit_rate)" %.1f
    says 'DRAM bus' "$(line 'DRAM bus' 3)" "$(json dram.utilization)" %.1f
    share issued issued
    share data-MEM data_mem
    share str-MEM str_mem
    share fetch fetch
    share idle idle
    occupancy=$(line occupancy 2)
    awk "BEGIN { exit !($occupancy > 10 && $occupancy < 95) }" || # a number that a constant would not hit
        { echo "FAILED: occupancy of $machine is $occupancy" && failures=$((failures + 1)); }
done

# the list of a program with many launches: one name, so its sums are those of all kernels
for form in json txt; do
    "$heddle" run -m fermi --stats run.$form -- "$(dirname "$heddle")/ends" exit 40 2>/dev/null
done
sum() { grep '"id":' -A40 run.json | sed '/"total"/,$d' | grep -o "\"$1\":[0-9]\+" | cut -d: -f2 |
    awk '{ s += $1 } END { print s + 0 }'; }
counts() { grep -m 1 '^counts ' run.txt | tr -d , | awk "{ print \$$1 }"; }
says launches "$(counts 2)" "$(grep -c '"id":' run.json)" %d
says 'cycles of all launches' "$(counts 3)" "$(sum cycles)" %d
says 'IPC of all launches' "$(counts 4)" "$(sum sm.warp_insts) / $(sum cycles)" %.3f
says 'occupancy of all launches' "$(counts 5)" \
    "100 * $(sum sm.warp_cycles) / $(sum sm.warp_slot_cycles)" %.1f

[ $failures -eq 0 ] && echo "the table says what the JSON says"
exit $((failures > 0))
