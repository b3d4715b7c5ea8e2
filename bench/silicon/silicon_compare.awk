# silicon_compare.awk: cycles of an H200 (h200.tsv, the first file) beside ours (CSV: workload, launch, grid,
# cycles).
function distance(x) { return x < 0 ? -x : x }
function row(name, launches, theirs, ours) {
    printf "%-32s %8d %12d %12d %7.2f\n", name, launches, theirs, ours, ours / theirs
    rows++
    error += distance(ours / theirs - 1)
    factor += distance(log(ours / theirs))
    bias += log(ours / theirs)
    near += distance(ours / theirs - 1) <= 0.25
}
function end_workload() {
    if (count) row(workload, count, theirs, ours)
    count = theirs = ours = 0
}
BEGIN {
    FS = "\t"
    for (i = split(only, list, ","); i; i--) wanted[list[i]] = 1
    printf "%-32s %8s %12s %12s %7s\n", by, "launches", "H200", "Heddle", "ratio"
}
FNR == NR {
    cycles[$1 "," $2 "," $4] = $6 - launch
    kernel[$1 "," $2 "," $4] = $3
    next
}
FNR == 1 { FS = ","; next }
only && !($1 in wanted) { next }
{
    key = $1 "," $2 "," $3
    if ($1 != workload) end_workload()
    workload = $1
    if (!(key in cycles)) next
    if (by == "launch") row($1 " " $2 " " kernel[key], 1, cycles[key], $4)
    else { count++; theirs += cycles[key]; ours += $4 }
}
END {
    end_workload()
    if (!rows) { print "silicon: no launch to compare" > "/dev/stderr"; exit 1 }
    printf "mean error %.0f%%, a factor of %.2f, bias %.2f; %d of %d within a quarter\n", 100 * error / rows,
        exp(factor / rows), exp(bias / rows), near, rows
}
