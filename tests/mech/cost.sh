#!/usr/bin/env bash
# cost.sh HEDDLE SOURCE_FOLDER: what APRES, Linebacker and CCN cost, from their parameters: the papers'
# numbers, and other sizes.
set -uo pipefail
heddle=$1
export HEDDLE_HOME=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0
# row EXPERIMENT NUMBERS...: the table has these numbers in one line
row() {
    local experiment=$1
    shift
    "$heddle" reproduce "$experiment" >out 2>err
    grep -Eq "^value +$(printf '%s +' "$@" | sed 's/ +$/ *$/')" out && return
    echo "FAILED: $experiment: wanted $*, got: $(grep '^value' out) $(head -2 err)"
    failures=$((failures + 1))
}
# shadow tags of an SM and of all, CCN buffer, request and response queue, request channel
row thesis-sec4.5.4 1200.0 17.578 30.000 30.000 1028.0 4.000
# LLT, WGT, DRQ, WQ, PT, all
row apres-table2 192 18 256 48 210 724
sizes='apres.llt: 64, apres.wgt: 16, apres.drq: 1, apres.wq: 64, apres.pt: 20'
sed "s/mech: apres/mech: apres, mech_set: {$sizes}/" "$HEDDLE_HOME/experiments/apres-table2.yaml" >wide.yaml
row wide.yaml 256 128 8 64 420 876
# HPC, LM, IPC monitor, CTA manager, CTAs, VTT, buffer, all in KB
row linebacker-cost 240.00 392.00 12.00 6.75 180.00 4608.00 792.00 6.08
sed 's/mech: linebacker/mech: linebacker, mech_set: {linebacker.ways: 2, linebacker.buffer: 12}/' \
    "$HEDDLE_HOME/experiments/linebacker-cost.yaml" >small.yaml
# 16 ways are numbered by 4 bits
row small.yaml 240.00 392.00 12.00 6.75 180.00 2208.00 1584.00 4.51
[ $failures -eq 0 ] && echo "all passed"
exit $((failures > 0))
