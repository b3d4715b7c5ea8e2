# history.awk: the rows of speed.sh as lines of bench/history.tsv, one a machine: day, commit, machine,
# geometric mean and slowest in thousand warp instructions a second, host instructions a warp instruction
# (geometric mean; - where not counted), peak MB, what changed, and each kernel's rate.
function finish() {
    if (!n) return
    printf "%s\t%s\t%s\t%.0f\t%.0f\t%s\t%.0f\t%s\t%s\n",
        day, commit, machine, exp(logs / n) / 1000, least / 1000,
        counted == n ? sprintf("%.0f", exp(counts / n)) : "-", memory, what, each
    n = logs = counts = counted = memory = 0
    each = ""
}
$1 != machine { finish(); machine = $1 }
{
    rate = $3 / $7
    host = $12 != "-" ? $12 : $11 > 0 ? $11 / $3 : 0
    if (!n || rate < least) least = rate
    logs += log(rate); n++
    if (host) { counts += log(host); counted++ }
    if (($9 - $10) / 1024 > memory) memory = ($9 - $10) / 1024
    each = each sprintf("%s%s=%.0f", each ? " " : "", $2, rate / 1000)
}
END { finish() }
