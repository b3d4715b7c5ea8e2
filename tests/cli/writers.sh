#!/bin/sh
# writers.sh SOURCE_DIR: each field of an SM, and of what a GPU in time holds, has one writer. Fails where a
# file of src/core/sm, src/core or src/core/mech writes a field of a part that belongs to another file, or
# makes a pointer through which it, or a component that it hands the pointer to, could. What two sides share
# is an event flag (base/event_flag.h): a table says which files set it and which clear it.
set -eu
cd "$1/src/core"

# What it is | how code names it | the files that may write it. "m" is the SM, "x" a context, "b" a bank.
of_sm='part sleep|m->(sleep|sleep_cold)|sleep.c sleep.h ahead.c
when an SM wakes|\*m->sleep\.wake|sleep.c ahead.c
part execute|m->(exec|execute|collector|pipes)|execute.c execute.h
part fetch|m->(fetching|fetch|fetch_cold)|fetch.c
part scoreboard|m->(board|board_cold)|scoreboard.c
part scheduler|m->(sched|scheduler|alarm)|scheduler.c
part lsu|m->(lsu|memory|reexec)|lsu.c lsu_build.c lsu_reexec.c lsu_reply.c lsu_sleep.c
part read-only caches|m->(misses|readonly)|readonly.c
part prefetches|m->(prefetches|prefetch)|prefetch.c
part transfers|m->transfer|transfer.c
part programs|m->residency\.programs|program.c
part residency|m->(residency|state)|residency.c
part CTAs without slots|m->swaps|cta_swap.c
part account|m->account|account.c
statistics of loads|m->accesses|load_stats.c
statistics of a load|(l|[a-z_>.-]+loads\[[^;]*\])(->|\.)stats|load_stats.c
part mechanisms|m->(seen|mech|mech_view)|sm_ports.c sm_events.c
what is made once|m->(l1|port|p|clock|setup|line_bytes)|sm.c
masks of warps|(b->|m->banks\[[^]]*\]\.|bank_at\([^;]*\)->)(warp|next)|warp_status.c
masks of the scoreboard|(b->|m->banks\[[^]]*\]\.|bank_at\([^;]*\)->)board|scoreboard.c
masks of fetch|(b->|m->banks\[[^]]*\]\.|bank_at\([^;]*\)->)fetch|fetch.c
masks of votes|(b->|m->banks\[[^]]*\]\.|bank_at\([^;]*\)->)votes|scheduler.c
a context in fetch|x->fetch_[a-z_]+|fetch.c
a context on the scoreboard|x->board_[a-z_]+|scoreboard.c
a context in the scheduler|x->issue_[a-z_]+|scheduler.c
what a warp does next|x->(next|next_pc|sleep_until|stage)|warp_status.c
who a warp is|x->(emu|program|slot|last_slot|sibling|cta|number|launch|index)|residency.c
sums of statistics|m->sum|sm.c
statistics of fetch|m->stats\.(fetches|icache_misses)|fetch.c
statistics of the scheduler|m->stats\.extra_issues|scheduler.c
statistics of sleeping warps|m->stats\.sleeps|warp_status.c
statistics of small caches|m->stats\.(const|tex)_[a-z]+|lsu.c
statistics of shared memory|m->stats\.shared_[a-z_]+|lsu_build.c
statistics of re-execution|m->stats\.reexecutions|lsu_reexec.c
statistics of prefetches|m->stats\.prefetches[a-z_]*|prefetch.c
statistics of transfers|m->stats\.row[a-z_]+|transfer.c
statistics of lent banks|m->stats\.lent_[a-z]+|sm_ports.c
statistics of collectors|m->stats\.collector_[a-z_]+|sm.c
counts of a grid, issue|own\.sm\.thread_insts|scheduler.c
counts of a grid, CTAs|own\.sm\.ctas|program.c
counts of a grid, warps|grid_stats\([^;]*\)->warps|residency.c
counts of a grid, accesses|grid_stats\([^;]*\)->transactions|lsu.c
counts of a grid, answers|grid_stats\([^;]*\)->(loads_done|load_cycles)|lsu_reply.c
counts of a grid, accesses that begin|grid_stats\([^;]*\)->([a-z]+_insts|load_transactions)|lsu_build.c
slots and occupancy|(m->stats\.|s->)(slots_all|cycles|[a-z]+_cycles|[a-z0-9]+_size_cycles)|account.c'

# What a GPU in time holds: "g" is the GPU, "k" a kernel; the rooms name themselves by a letter each.
of_gpu='the time|(g->time|t->(now|edges))|gpu_clock.c gpu_clock.h
components|(g->wiring|w->(sms|slices|channels|xbar|map|ring|sharers|units|[a-z]+_count|mech[a-z_]*))|wiring.c
components, roles|w->(role_counts|helper_loads|cache_most|dates_copies)|wiring.c
the dispatcher|(g->dispatch|d->(wake|is_draining|queue|next_sm|launches|counts|busy_since|setup))|dispatch.c
the helper|(g->helper|h->[a-z_]+)|helper.c
roles|(g->roles|r->(state|is_empty|since))|roles.c
streams|(g->streams|s->(first|last|id))|stream.c
the sampler|(g->sampler|s->(next|interval|before))|sampler.c
snapshots|(g->snapshots|s->(groups|group_count|helper_group|mech_end|fixed|moved))|snapshot.c
records|(g->records|r->(has_timeline|kernels|samples))|records.c
the end of the run|(g->end|e->(kind|fault))|run_end.c
the watchdog|(g->watchdog|d->(silence_max|insts|mark|cycle))|stuck.c
when the loop goes on|g->loop|loop.c
the GPU itself|g->(machine|options|device|energy|energy_rows)|timed.c
a run of another process|g->kept|kept.c
a launch|k->(launch|params|name|id|stream)|gpu_kernel.c
a kernel on the machine|k->(state|grid|fault|next_cta|ctas_done|ready_at|cta_starts|fit|overlapped)|dispatch.c
what is measured of a kernel|k->measure|kernel_life.c
units|u->[a-z_]+|units.c units_step.c units_ring.c units_crew.c'

# The host of mechanisms: "seat" is a mechanism on an SM (mech_seat.h), or on the GPU (mech_gpu.c).
of_mechs='timers|seat->(due|period|fired)|mech_host.c mech_gpu.c'

# Pointers in structs that are const there: field | file that declares it, from src/core.
of_readers='cycle|mech/mech_host.h
next|sm/context.h'
# Pointers in structs that may be made: those, what the L1 counts of a grid, and whole rooms of the GPU, which
# are written by their own functions.
may_point='\.own =|&g->[a-z]+[,}]'

# Calls and the files that may make them, from src.
callers='event_flag_set|emu/late.c core/sm/residency.c core/sm/ahead.c core/units_step.c
event_flag_clear|core/sm/ahead.c core/units_step.c
xbar_set_gate|core/mech/mech_slices.c'
# Pointers to event flags: who gets one, and where.
may_lend='emu_log_create|\.pending = &unit->pending|sm_run_ahead'

# A member of what is named, an element of it; then an assignment that is not a comparison.
member='((\.|->)[a-z_0-9]+|\[[^]]*\])*'
writes=' *(=[^=]|[-+|&^]=|<<=|>>=|\+\+|--)'
rules=0 bad=0

expect_none() { # expect_none WHAT OWNERS PATTERN [EXCEPT]: no other file than the owners has lines like this
    found=$(grep -nE -e "$3" -- *.[ch] | grep -vwE -e "${4:-no exception}" || true)
    for file in $2; do found=$(printf '%s\n' "$found" | grep -v "^$file:" || true); done
    [ -z "$found" ] && return
    echo "$1 is written outside of $2:"
    printf '%s\n' "$found"
    bad=1
}

check() { # check TABLE: for the files of this folder
    while IFS='|' read -r what rest; do
        name=${rest%|*} owners=${rest##*|}
        for file in $owners; do
            [ -f "$file" ] || { echo "$what: there is no file $file"; bad=1; }
        done
        grep -qE -e "$name" $owners ||
            { echo "$what: $owners do not name it: is the table up to date?"; bad=1; }
        expect_none "$what" "$owners" "(^|[^a-z_>.*])$name$member$writes|(\+\+|--)$name$member"
        expect_none "$what, by a pointer," "$owners" "\* ?[a-z_]+ = &$name\b" 'const|programs'
        expect_none "$what, by a pointer in a struct," "$owners" "(\.|->)[a-z_]+ = &$name\b" "$may_point"
        rules=$((rules + 1))
    done <<TABLE
$1
TABLE
}

while IFS='|' read -r field file; do
    grep -qE "(^ *|\) )const [a-z_0-9 ]+\*$field;" "$file" || { echo "$field is not const in $file"; bad=1; }
    may_point="$may_point|[a-z]*(\.|->)$field ="
done <<TABLE
$of_readers
TABLE

cd sm
check "$of_sm"
expect_none "counts of a grid" "lsu_build.c" '= grid_stats\('
expect_none "when an SM wakes" "sleep.c sleep.h ahead.c" 'wake_at\((m->sleep|&m->sleep_cold)'
cd ..
check "$of_gpu"
cd mech
check "$of_mechs"
cd ../..
while IFS='|' read -r call files; do
    found=$(grep -rnE "(^|[^a-z_])$call\(" --include=*.c . | sed 's,^\./,,')
    for file in $files; do
        printf '%s\n' "$found" | grep -q "^$file:" || { echo "$file does not call $call"; bad=1; }
        found=$(printf '%s\n' "$found" | grep -v "^$file:" || true)
    done
    found=$(printf '%s\n' "$found" | grep -vE ":(static inline )?void $call\\(" || true)
    [ -z "$found" ] || { echo "$call is called outside of $files:"; printf '%s\n' "$found"; bad=1; }
    rules=$((rules + 1))
done <<TABLE
$callers
TABLE
found=$(grep -rnE '\bis_set(=| = )|&[a-z_.>-]+(\[[a-z]+\])?(\.|->)pending\b' --include=*.[ch] core emu base |
    grep -vE "^base/event_flag.h|event_flag_|$may_lend" || true)
[ -z "$found" ] || { echo "an event flag is written or lent elsewhere:"; printf '%s\n' "$found"; bad=1; }
[ "$rules" -ge 50 ] || { echo "only $rules rows were read"; bad=1; }
[ "$bad" = 0 ] && echo "$rules kinds of fields have one writer each"
exit "$bad"
