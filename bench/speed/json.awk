# json.awk: the rows of speed.sh as JSON.
BEGIN { printf "{\"schema\":1,\"commit\":\"%s\",\"rows\":[", commit }
{
    printf "%s\n  {\"machine\":\"%s\",\"kernel\":\"%s\",\"warp_insts\":%d,\"thread_insts\":%d," \
        "\"transactions\":%s,\"cycles\":%s,", (NR > 1 ? "," : ""),
        $1, $2, $3, $4, $1 == "functional" ? "null" : $5, $1 == "functional" ? "null" : $6
    printf "\"seconds\":%s,\"wall_seconds\":%s,\"warp_insts_per_second\":%.0f," \
        "\"thread_insts_per_second\":%.0f,", $7, $8, $3 / $7, $4 / $7
    printf "\"host_insts_per_warp_inst\":%s,\"memory_bytes\":%.0f,\"own_bytes\":%.0f}",
        ($12 != "-" ? $12 : $11 > 0 ? $11 / $3 : "null"),
        ($9 - $10) * 1024, $10 * 1024
}
END { print "\n]}" }
