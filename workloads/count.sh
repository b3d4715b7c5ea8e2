#!/usr/bin/env bash
# count.sh HEDDLE [NAME...]: counts the warp instructions of each size (functionally, unchecked) and writes
# them into the descriptions. A size that takes longer than LIMIT seconds (default 600) keeps what it has.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
heddle=$1
shift
[ $# -gt 0 ] || set -- $(cd "$here" && for f in */workload.yaml; do dirname "$f"; done)
stats=$(mktemp --suffix=.json)
trap 'rm -f "$stats"' EXIT
for name; do
    for size in $(sed -n '/^sizes:/,$ s/^  \([a-z0-9]*\):.*/\1/p' "$here/$name/workload.yaml"); do
        if ! timeout "${LIMIT:-600}" "$heddle" run "$name" --size $size --functional --stats "$stats" \
            -- --no-check >/dev/null 2>&1; then
            echo "$name $size: not counted"
            continue
        fi
        count=$(sed -n 's/.*"total": {.*"warp_insts": \([0-9]*\).*/\1/p' "$stats")
        echo "$name $size: $count"
        row="s/, warp_instructions: [0-9]+\}/}/; s/\}( *(#.*)?)\$/, warp_instructions: $count}\1/"
        sed -i -E "/^  $size:/{$row}" "$here/$name/workload.yaml"
    done
done
