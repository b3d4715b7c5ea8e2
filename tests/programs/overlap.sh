#!/bin/sh
# overlap.sh HEDDLE PROGRAM: the two kernels that PROGRAM (streams.cu) launches first, on two streams, run
# together: each begins before the other ends, both say so, they take less time than one after the other, and
# the table says which figures are whose. The same with modelled copies. Results are right in each run (the
# program checks them), and --no-skip has the same hash.
set -u
heddle=$1 program=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

# id start end overlapped, a line for each kernel
kernels() {
    tr -d '\n' <"$1" | sed 's/"total".*//; s/{"id":/\n&/g' |
        sed -nE 's/^\{"id":([0-9]*),.*"overlapped":([a-z]*), *"start_cycle":/\1 \2 /p' |
        sed -nE 's/^([0-9]*) ([a-z]*) ([0-9]*),"end_cycle":([0-9]*).*/\1 \3 \4 \2/p'
}
hash() { sed -n 's/.*"hash":"\([0-9a-f]*\)".*/\1/p' "$1"; }

for copies in false true; do
    "$heddle" run -m fermi --set copy.timed=$copies --stats "$out/run.json" \
        --timeline "$out/line.json" -- "$program" \
        >"$out/text" 2>&1 || fail "the run: $(cat "$out/text")"
    grep -q 'streams: PASS' "$out/text" || fail "wrong results with copy.timed=$copies"
    "$heddle" run -m fermi --set copy.timed=$copies --no-skip --stats "$out/noskip.json" -- "$program" \
        >"$out/text" 2>&1 || fail "the run with --no-skip: $(cat "$out/text")"
    grep -q 'streams: PASS' "$out/text" || fail "wrong results with --no-skip"
    [ -n "$(hash "$out/run.json")" ] || fail "no hash"
    [ "$(hash "$out/run.json")" = "$(hash "$out/noskip.json")" ] || fail "--no-skip has another hash"
    kernels "$out/run.json" >"$out/list"
    [ "$(grep -c . "$out/list")" -eq 6 ] || fail "six kernels: $(cat "$out/list")"
    awk -v copies=$copies '$1 == 1 { s1 = $2; e1 = $3; o1 = $4 } $1 == 2 { s2 = $2; e2 = $3; o2 = $4 }
        $4 == "true" { together++ }
        END {
            last = e1 > e2 ? e1 : e2; first = s1 < s2 ? s1 : s2
            printf "copy.timed=%s: %d and %d cycles, together %d\n", copies, e1 - s1, e2 - s2, last - first
            if (copies == "true") exit !(s2 > s1) # its copy waited for the engine
            exit !(s1 < e2 && s2 < e1 && o1 == "true" && o2 == "true" && together == 2 &&
                   last - first < (e1 - s1 + e2 - s2) * 3 / 4)
        }' "$out/list" || fail "no overlap: $(cat "$out/list")"
    grep -q '"stream 3"' "$out/line.json" && grep -q '"stream 4"' "$out/line.json" ||
        fail "the timeline has no streams"
    if [ $copies = true ]; then
        grep -q '"copy to device"' "$out/line.json" && grep -q '"copy to host"' "$out/line.json" ||
            fail "the timeline has no copies"
    fi
done
"$heddle" run -m fermi -- "$program" >"$out/text" 2>&1 || fail "the run with a table"
grep -q 'ran together with other kernels' "$out/text" || fail "the table does not say it"
echo "overlap: PASS"
