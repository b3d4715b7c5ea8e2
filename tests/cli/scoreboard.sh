#!/usr/bin/env bash
# scoreboard.sh SOURCE_FOLDER: the scoreboard at the head of docs/reproduction.md adds up: verdicts to the
# claims of each paper, papers to the last row, and the claims to the lines of claims.tsv.
set -euo pipefail
cd "$1"
lines=$(grep -cv '^#' experiments/claims.tsv)
awk -F' *[|] *' -v lines="$lines" '
    /^[|] paper [|] claims [|] reproduced [|] trend only [|] not [|] not comparable [|] open [|]/ {
        on = 1
        next
    }
    on && !/^[|]/ { exit }
    on && !/^[|]-/ {
        if ($3 != $4 + $5 + $6 + $7 + $8) { print "FAILED: does not add up: " $0; bad = 1 }
        if ($2 != "all") { papers++; for (i = 3; i <= 8; i++) sum[i] += $i }
        if ($2 != "all" && $9 == "") { print "FAILED: does not say why: " $0; bad = 1 }
        if ($2 == "all") {
            for (i = 3; i <= 8; i++)
                if ($i != sum[i]) { print "FAILED: column " i " is not the sum"; bad = 1 }
            if ($3 != lines) { print "FAILED: claims.tsv has " lines " claims"; bad = 1 }
            done = 1
        }
    }
    END { if (!done || papers != 7) { print "FAILED: no scoreboard of seven papers"; bad = 1 }; exit bad }
' docs/reproduction.md
