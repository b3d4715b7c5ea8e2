# compare.awk: two builds that ran in turns: machine kernel seconds_a seconds_b same|DIFFERENT, or machine
# kernel count a b. Ratios are a / b: above 1, the second build is faster.
function sorted_median(list, count,   i, j, t) {
    for (i = 2; i <= count; i++)
        for (j = i; j > 1 && list[j] < list[j - 1]; j--) {
            t = list[j]; list[j] = list[j - 1]; list[j - 1] = t
        }
    return count % 2 ? list[(count + 1) / 2] : (list[count / 2] + list[count / 2 + 1]) / 2
}
function finish() {
    if (!n) return
    median = sorted_median(ratios, n)
    printf "%-11s %-10s %9.3f %9.3f %10.3f %10.3f %10s  %s\n",
        machine, kernel, best_a, best_b, best_a / best_b, median,
        counted ? sprintf("%.3f", count_a / count_b) : "-", same
    bests += log(best_a / best_b); medians += log(median); total++
    if (counted) { counts += log(count_a / count_b); counteds++ }
    if (same != "same") differ++
    n = counted = 0
    fflush()
}
BEGIN {
    printf "%-11s %-10s %9s %9s %10s %10s %10s  %s\n",
        "machine", "kernel", "first s", "second s", "best", "median", "insts", "statistics"
}
$1 != machine || $2 != kernel { finish(); machine = $1; kernel = $2; same = "same" }
$3 == "count" { counted = 1; count_a = $4; count_b = $5; next }
{
    ratios[++n] = $3 / $4
    if (n == 1 || $3 < best_a) best_a = $3
    if (n == 1 || $4 < best_b) best_b = $4
    if ($5 != "same") same = $5
}
END {
    finish()
    insts = counteds ? sprintf("%.3f", exp(counts / counteds)) : "-"
    printf "geometric mean %46.3f %10.3f %10s\n", exp(bests / total), exp(medians / total), insts
    if (differ) { print "the two builds do not count the same: " differ " kernels"; exit 1 }
}
