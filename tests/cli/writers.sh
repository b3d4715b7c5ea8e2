#!/bin/sh
# writers.sh SOURCE_DIR: each field of an SM has one writer. Fails where a file of src/core/sm writes a field
# of a part that belongs to another file, or makes a pointer through which it could.
set -eu
cd "$1/src/core/sm"

# What it is | how code names it | the files that may write it. "m" is the SM, "x" a context, "b" a bank.
table='part sleep|m->(sleep|own_wake)|sleep.c sleep.h ahead.c
when an SM wakes|\*m->sleep\.wake|sleep.c ahead.c
part execute|m->(exec|execute|collector|pipes)|execute.c execute.h
part fetch|m->(fetching|fetch)|fetch.c
part scoreboard|m->(board|board_away)|scoreboard.c
part scheduler|m->(sched|scheduler|alarm)|scheduler.c
part lsu|m->(lsu|memory|reexec|bulks)|lsu.c lsu_build.c lsu_reexec.c lsu_reply.c
part read-only caches|m->(misses|readonly)|readonly.c
part prefetches|m->(prefetches|prefetch)|prefetch.c
part transfers|m->transfer|transfer.c
part programs|m->residency\.programs|program.c
part residency|m->(residency|state)|residency.c
part CTAs without slots|m->swaps|cta_swap.c
part account|m->account|account.c
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
who a warp is|x->(emu|program|slot|last_slot|sibling|cta|number|launch|index)|residency.c'

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

while IFS='|' read -r what rest; do
    name=${rest%|*} owners=${rest##*|}
    for file in $owners; do
        [ -f "$file" ] || { echo "$what: there is no file $file"; bad=1; }
    done
    grep -qE -e "$name" $owners || { echo "$what: $owners do not name it: is the table up to date?"; bad=1; }
    expect_none "$what" "$owners" "(^|[^a-z_>.*])$name$member$writes|(\+\+|--)$name$member"
    expect_none "$what, by a pointer," "$owners" "\* ?[a-z_]+ = &$name\b" 'const|programs'
    rules=$((rules + 1))
done <<TABLE
$table
TABLE
expect_none "when an SM wakes" "sleep.c sleep.h ahead.c" 'wake_at\((m->sleep|&m->own_wake)'
[ "$rules" -ge 20 ] || { echo "only $rules rows were read"; bad=1; }
[ "$bad" = 0 ] && echo "$rules kinds of fields have one writer each"
exit "$bad"
