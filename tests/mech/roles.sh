#!/bin/bash
# roles.sh HEDDLE: the timeline of a run with SMs in cache mode has as counters how many SMs compute and how
# many cache, hit rates of both parts of the LLC and the queue at the controllers, as the statistics say them;
# that of another run has none.
set -eu
heddle=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# OPTION...: a run with a sample of the whole run, and the values of its counters.
counters() {
    "$heddle" run llc-probe --size tiny -m rtx3080 --sample 10000000 --timeline "$work/t.json" --quiet \
        --stats "$work/s.json" "$@" >"$work/out"
    grep -q ': PASS$' "$work/out"
}
# NAME: the first value of a counter.
value() { grep -o "\"name\":\"$1\",.*\"value\":[0-9.]*" "$work/t.json" | head -1 | sed 's/.*://'; }
# NAME: a statistic of the whole run.
stat() { grep -Eo "\"$1\": *[0-9.]+" "$work/s.json" | tail -1 | sed 's/.*: *//'; }
# COUNTER STATISTIC FACTOR
same() {
    awk -v ours="$(value "$1")" -v stat="$(stat "$2")" -v factor="$3" 'BEGIN {
        d = ours - stat * factor; if (ours == "" || d * d > 1e-6 * (1 + ours * ours)) exit 1 }' ||
        { echo "FAILED: $1 is '$(value "$1")', $2 is $(stat "$2")"; exit 1; }
}

counters
! grep -q 'SMs: in cache mode' "$work/t.json" || { echo "FAILED: roles without a mechanism"; exit 1; }
counters --set l2.slice_size=2K --mech morpheus --mech-set morpheus.cache_sms=3
sms=$(value 'SMs: in cache mode')
[ "$sms" = 3 ] || { echo "FAILED: $sms SMs in cache mode, not 3"; exit 1; }
same 'SMs in cache mode: busy %' helper.busy 1
same 'LLC hit rate %: extended' morpheus.hit_share 100
same 'LLC hit rate %: slices' l2.hits "$(awk -v n="$(stat l2.accesses)" 'BEGIN { print 100 / n }')"
same 'request queue of a slice' morpheus.queue_length 1
echo "the counters are what the statistics say"
