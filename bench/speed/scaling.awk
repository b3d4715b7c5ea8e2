# scaling.awk: machine kernel size, then a row of speed.sh: what ten times the work costs.
BEGIN {
    printf "%-11s %-10s %-6s %13s %9s %14s %22s %22s\n", "machine", "kernel", "size", "warp insts", "seconds",
        "ns a warp inst", "work, times the last", "time, times the last"
}
{
    again = $1 == machine && $2 == kernel
    printf "%-11s %-10s %-6s %13d %9.3f %14.0f %22s %22s\n", $1, $2, $3, $4, $8, $8 / $4 * 1e9,
        again ? sprintf("%.2f", $4 / work) : "", again ? sprintf("%.2f", $8 / time) : ""
    machine = $1; kernel = $2; work = $4; time = $8
    fflush()
}
