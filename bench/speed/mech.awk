# mech.awk: lines "MACHINE KERNEL WARP_INSTS SECONDS WARP_INSTS SECONDS", without and with mechanisms,
# several of each: thousands of warp instructions a second by the fastest run of each, the ratio, and its
# geometric mean on each machine. Or "MACHINE KERNEL count INSTS INSTS": host instructions per warp
# instruction without and with mechanisms, and the ratio of the rates that they stand for.
function rate(insts, seconds) { return insts / (seconds > 0 ? seconds : 1e-6) / 1000 }
{
    row = $1 " " $2
    if (!(row in base)) order[++rows] = row
    if ($3 == "count") {
        counts = 1
        base[row] = $4
        with[row] = $5
        next
    }
    if (rate($3, $4) > base[row]) base[row] = rate($3, $4)
    if (rate($5, $6) > with[row]) with[row] = rate($5, $6)
}
function mean() {
    if (count) printf "%-9s %-10s %34s %8.2f\n", machine, "mean", "", exp(sum / count)
    sum = count = 0
}
END {
    unit = counts ? "insts/warp inst" : "kilo warp inst/s"
    printf "%-9s %-10s %16s %17s %8s\n", "machine", "kernel", unit, mech, "ratio"
    for (i = 1; i <= rows; i++) {
        split(order[i], name, " ")
        if (name[1] != machine) mean()
        machine = name[1]
        ratio = counts ? base[order[i]] / with[order[i]] : with[order[i]] / base[order[i]]
        printf "%-9s %-10s %16.1f %17.1f %8.2f\n", machine, name[2], base[order[i]], with[order[i]], ratio
        sum += log(ratio)
        count++
    }
    mean()
}
