# table.awk: the rows of speed.sh as tables, one a machine, with means and bars.
# machine kernel warp thread transactions cycles cpu wall peak_kb own_kb host_insts counted
function bar(machine, which) {
    if (machine == "functional") return which == "mean" ? 30e6 : 0
    return (which == "mean" ? 1e6 : 300e3) / (machine == "rtx3080" ? 2 : 1)
}
function verdict(value, wanted) {
    return !wanted ? "" : sprintf(" (bar %.0f: %s)", wanted / 1000, value >= wanted ? "met" : "MISSED")
}
function finish() {
    if (!n) return
    printf "%-10s geometric mean %.0f thousand warp instructions a second%s", machine, exp(logs / n) / 1000,
        n < all ? "" : verdict(exp(logs / n), bar(machine, "mean")) # that bar is for all of them
    printf "; slowest %s %.0f%s", slowest, least / 1000, verdict(least, bar(machine, "least"))
    if (counted) printf "; %.0f host instructions a warp instruction", exp(counts / counted)
    printf "; memory %.0f MB (bar 300: %s)\n\n", memory, memory < 300 ? "met" : "MISSED"
    n = logs = counts = counted = memory = 0
}
$1 != machine {
    finish()
    machine = $1
    printf "%-10s %12s %13s %12s %10s %8s %10s %12s %8s %7s\n",
        machine, "warp insts", "thread insts", "transactions", "cycles",
        "seconds", "kwarp/s", "kthread/s", "host/w", "MB"
}
{
    rate = $3 / $7
    host = $12 != "-" ? $12 : $11 > 0 ? $11 / $3 : 0
    beyond = ($9 - $10) / 1024
    printf "%-10s %12d %13d %12s %10s %8.3f %10.0f %12.0f %8s %7.1f\n",
        $2, $3, $4, $5 ? $5 : "-", $6 ? $6 : "-", $7, rate / 1000,
        $4 / $7 / 1000, host ? sprintf("%.0f", host) : "-", beyond
    if (!n || rate < least) { least = rate; slowest = $2 }
    logs += log(rate); n++
    if (host) { counts += log(host); counted++ }
    if (beyond > memory) memory = beyond
    fflush()
}
END { finish() }
