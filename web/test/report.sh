#!/usr/bin/env bash
# report.sh HEDDLE NODE [without-browser]: a small sweep, its page and its figures as files have no fault. The
# page is opened in Chromium where there is one.
set -uo pipefail
heddle=$1
node=$2
web=$(cd "$(dirname "$0")" && pwd)
page_dir=$(dirname "$heddle")/../share/heddle
if [ ! -e "$page_dir/report.html" ]; then
    echo "SKIPPED: the page was not built (it needs npm and, once, a network): $page_dir/report.html"
    exit 77
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
cd "$out" || exit 1
failures=0
failed() {
    echo "FAILED: $*"
    [ -e told ] && sed 's/^/    /' told | head -20
    failures=$((failures + 1))
}
# expect STATUS PATTERN COMMAND...: a line of both streams must match where there is a pattern
expect() {
    local status=$1 pattern=$2 got
    shift 2
    timeout 300 "$@" >told 2>&1
    got=$?
    [ $got -eq "$status" ] || failed "$* (status $got, wanted $status)"
    [ -z "$pattern" ] || grep -Eq -- "$pattern" told || failed "$* (wanted /$pattern/)"
}

cat >small.yaml <<'YAML'
title: A "small" <experiment>
machine: fermi
size: tiny
workloads: [2dconv, nn]
sample: 1000
columns:
  base: {}
  mshrs: {over: {l1.mshrs: [8, 64]}}
measures:
  speedup: ipc / base.ipc
figures:
  - id: speed
    title: 'A <b> & "c" &lt; d > e | f'
    draw: bars
    measures: speedup
    mean: geometric
  - id: curve
    title: Speed-up over MSHRs
    draw: lines
    columns: mshrs
    measures: speedup
YAML

# ---- nothing there yet ----
expect 2 'heddle sweep' "$heddle" report
expect 2 'cannot' "$heddle" report nowhere.db small.yaml
[ ! -e results.db ] || failed "a report made a store"
expect 0 '' "$heddle" sweep small.yaml --workloads 2dconv
expect 2 "no experiment is called 'nowhere'" "$heddle" report nowhere
expect 2 'no run of any experiment' "$heddle" report # it is not one of the data folder's

# ---- half of the runs, then all of them ----
expect 0 '^report.html: 1 experiment, ' "$heddle" report small.yaml
grep -q '"missing":3' report.html || failed "missing runs are not counted"
expect 0 '' "$heddle" report small.yaml --workloads 2dconv -o one.html
grep -q '"missing":0' one.html || failed "the report of 2dconv alone has missing runs"
grep -q '"name":"nn"' one.html && failed "the report of 2dconv alone has nn"
expect 2 "no size 'huge'|has no size" "$heddle" report small.yaml --size huge
expect 0 '^made.html: 1 experiment, ' "$heddle" reproduce small.yaml -o made.html
expect 0 '^all.html: 1 experiment, ' "$heddle" report results.db small.yaml -o all.html
cmp -s made.html all.html || failed "reproduce and report write different pages"
grep -q '"missing":0' all.html || failed "runs are missing"
grep -Eq '"heddle":"[0-9.]+","simulator":"[0-9.]+ [0-9a-f]{32}"' all.html || failed "no simulator is named"
[ "$(grep -c '^{"key":' all.html)" -eq 6 ] || failed "not six runs in all.html"
expect 0 '^brief.html: 1 experiment, ' "$heddle" report small.yaml --brief -o brief.html
[ "$(grep -c '^{"key":' brief.html)" -eq 6 ] || failed "not six runs in brief.html"
grep '^{"key":' brief.html | grep -Eq '"(simulator|stats|kernels|loads|series|log|stall|energy)":' &&
    failed "details in brief.html"
# results PAGE: hash and cycles of each run
results() { sed -n 's/^{"key":.*"hash":"\([0-9a-f]*\)","cycles":\([0-9]*\),.*/\1 \2/p' "$1"; }
[ "$(results brief.html | wc -l)" -eq 6 ] || failed "no results in brief.html"
[ "$(results brief.html)" = "$(results all.html)" ] || failed "brief.html has other results"
expect 1 'cannot write /nowhere/x.html' "$heddle" report small.yaml -o /nowhere/x.html

# ---- files ----
expect 0 'small-speed.svg' "$heddle" report small.yaml --svg figures/svg
[ "$(ls figures/svg)" = $'small-curve.svg\nsmall-speed.svg' ] || failed "files: $(ls figures/svg)"
expect 0 '' "$node" "$web/xml.mjs" figures/svg/small-curve.svg 'Speed-up over MSHRs'
expect 0 '' "$node" "$web/xml.mjs" figures/svg/small-speed.svg 'A <b> & "c" &lt; d > e | f'
expect 0 '' "$heddle" report small.yaml --tables tables.md
grep -qF '## A &lt;b> &amp; "c" &amp;lt; d > e \| f' tables.md || failed "the title in Markdown"
expect 0 '' "$node" "$web/data.mjs" all.html 'A <b> & "c" &lt; d > e | f'
expect 1 'cannot start node' env PATH="$out" "$heddle" report small.yaml --svg figures/none

# ---- in the browser ----
if [ "${3:-}" != without-browser ]; then
    "$node" "$web/real.mjs" all.html >told 2>&1
    status=$?
    cat told
    [ $status -eq 0 ] || [ $status -eq 77 ] || failures=$((failures + 1))
fi
[ $failures -eq 0 ] && echo "reports are as they should be"
exit $((failures > 0))
