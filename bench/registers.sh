#!/usr/bin/env bash
# Registers per thread: Heddle's allocator beside ptxas, over PTX files (default: all of tests/ but the fuzz
# corpus, and examples/). Needs ptxas.
#   bench/registers.sh [-b BUILD_DIR] [-a ARCH] [-o TABLE.md] [FILE.ptx ...]
# Prints kernel, ours, ptxas, difference; then the median of the absolute differences in percent.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=$here/build/release arch= table=
while getopts b:a:o: flag; do
    case $flag in
    b) build=$OPTARG ;;
    a) arch=$OPTARG ;;
    o) table=$OPTARG ;;
    *) sed -n '2,5p' "$0" >&2; exit 2 ;;
    esac
done
shift $((OPTIND - 1))
ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
[ -x "$ptxas" ] || { echo "registers.sh: ptxas is not on this machine" >&2; exit 77; }
tool=$build/bin/bench_registers
[ -x "$tool" ] || { echo "registers.sh: $tool is not built" >&2; exit 2; }
files=("$@")
if [ $# -eq 0 ]; then
    mapfile -t files < <(find "$here/tests" "$here/examples" -name '*.ptx' -not -path '*/fuzz/*' | sort)
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "${files[@]}"; do
    target=$(sed -n 's/^[[:space:]]*\.target[[:space:]]*\(sm_[0-9]*[af]*\).*/\1/p' "$file" | head -1)
    number=$(echo "${target:-sm_75}" | tr -dc 0-9)
    # ptxas of CUDA 13 begins at sm_75
    use=${arch:-sm_$([ "${number:-75}" -lt 75 ] && echo 75 || echo "${target#sm_}")}
    "$ptxas" -v -arch="$use" "$file" -o /dev/null > "$work/said" 2>&1 || continue
    # "Compiling entry function 'NAME' for ..." then "Used N registers"
    sed -n "s/.*Compiling entry function '\([^']*\)'.*/K \1/p; s/.*Used \([0-9]*\) registers.*/R \1/p" \
        "$work/said" |
        awk '$1 == "K" { name = $2 } $1 == "R" && name != "" { print name "\t" $2; name = "" }' \
            > "$work/theirs"
    "$tool" "$file" 2> /dev/null > "$work/ours" || continue
    awk -F'\t' -v file="$(basename "$file")" 'NR == FNR { theirs[$1] = $2; next }
        $2 in theirs { print file "\t" $2 "\t" $3 "\t" theirs[$2] "\t" $4 }' \
        "$work/theirs" "$work/ours" >> "$work/all"
done
[ -s "$work/all" ] || { echo "registers.sh: no kernel could be compared" >&2; exit 1; }

awk -F'\t' '{ d = ($3 - $4) * 100 / $4; spills = $5 > 0 ? "  spills " $5 : ""
    printf "%-22s %-44.44s %5d %6d %+7.1f%%%s\n", $1, $2, $3, $4, d, spills }' "$work/all"
summary=$(awk -F'\t' '{ d = ($3 - $4) * 100 / $4; print d < 0 ? -d : d, d }' "$work/all" | sort -n |
    awk '{ a[NR] = $1; s += $2 } END { m = NR % 2 ? a[(NR + 1) / 2] : (a[NR / 2] + a[NR / 2 + 1]) / 2
           printf "%d kernels: median difference %.1f%%, mean signed difference %+.1f%%", NR, m, s / NR }')
echo "$summary"
if [ -n "$table" ]; then
    {
        echo "# Registers per thread: Heddle and ptxas"
        echo
        echo "Made by \`bench/registers.sh\`. $("$ptxas" --version | tail -1)."
        echo "$summary."
        echo
        echo "| file | kernel | Heddle | ptxas | difference |"
        echo "|---|---|---:|---:|---:|"
        awk -F'\t' '{ printf "| %s | `%s` | %d | %d | %+.1f%% |\n", $1, $2, $3, $4, ($3 - $4) * 100 / $4 }' \
            "$work/all"
    } > "$table"
fi
