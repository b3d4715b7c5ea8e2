#!/usr/bin/env bash
# speed.sh: how fast Heddle simulates twelve kernels, and the bars that it must meet (docs/performance.md).
#   bench/speed.sh [options] [KERNEL...]         the table: rates, host instructions, memory
#     -b BUILD       the build to measure (default build/release)
#     -m LIST        machines, with commas; 'functional' is a run without a clock
#                    (default fermi,maxwell,rtx3080,functional)
#     -n N           runs of each, the best counts (default 1; 5 with --against)
#     --size NAME    tiny, small or paper (default small; functional: paper)
#     --count        count host instructions with callgrind, on a tenth of the work (slow; where the machine's
#                    own counter can be read, the table has them without it)
#     --json FILE    the same as JSON
#     --record TEXT  append the result to bench/history.tsv under this commit
#     --against B2   BUILD and B2 in turns: ratios of their times (and of instructions, with --count); their
#                    statistics must agree
#     --mech NAMES   a machine with these mechanisms (with + between them) and without any, in turns: rates in
#                    warp instructions a second, and their ratio (not functional); with --count by host
#                    instructions instead of seconds
#     --scaling      the cost of ten times the work, of idle SMs, empty channels and long latencies
#     --ptx          make speed/speed.ptx again (nvcc)
#     --check-ptx    check that speed/speed.ptx belongs to speed/speed.cu; needs no compiler
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
build=$root/build/release machines=fermi,maxwell,rtx3080,functional
repeats= count= json= record= against= size= mode=table mech=
mechs=() # what simulate() attaches
all="vecadd matmul spmv bfs chase madd histogram stencil transpose reduce kmeans diverge"

die() { echo "speed: $*" >&2; exit 2; }
ptx_hash() { cat "$here/speed/speed.cu" "$root/workloads/kit/device.h" | sha256sum | cut -d' ' -f1; }
make_ptx() {
    local nvcc made
    nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc) made=$(mktemp)
    [ -x "$nvcc" ] || die "nvcc is not installed"
    "$nvcc" -ptx -O3 -arch=compute_75 -I "$root/workloads" "$here/speed/speed.cu" -o "$made"
    { echo "// made of sources with sha256 $(ptx_hash)"; cat "$made"; } > "$here/speed/speed.ptx"
    rm -f "$made"
}

while [ $# -gt 0 ]; do
    case $1 in
    -b) build=$2; shift ;;
    -m) machines=$2; shift ;;
    -n) repeats=$2; shift ;;
    --size) size=$2; shift ;;
    --count) count=1 ;;
    --json) json=$2; shift ;;
    --record) record=$2; shift ;;
    --against) against=$2 mode=against; shift ;;
    --mech) mech=$2 mode=mech; shift ;;
    --scaling) mode=scaling ;;
    --ptx) make_ptx; exit ;;
    --check-ptx)
        head -1 "$here/speed/speed.ptx" | grep -q "$(ptx_hash)" && exit
        die "bench/speed/speed.ptx does not belong to bench/speed/speed.cu: run bench/speed.sh --ptx" ;;
    -h | --help) sed -n '2,20p' "$0" | cut -c3-; exit ;;
    -*) die "unknown option '$1' (--help)" ;;
    *) break ;;
    esac
    shift
done
kernels=${*:-$all}
for k in $kernels; do
    case " $all chase1 " in *" $k "*) ;; *) die "no kernel '$k'; there are: $all" ;; esac
done
for b in "$build" ${against:+"$against"}; do [ -x "$b/bin/heddle" ] || die "no $b/bin/heddle"; done
[ -x "$build/bin/bench_speed" ] || die "no $build/bin/bench_speed"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# simulate BUILD MACHINE KERNEL SIZE [WRAPPER...]: statistics in $work/stats.json, the program's lines in
# $work/said. The program is always that of BUILD; `heddle run` of either build brings its own simulator.
simulate() {
    local heddle=$1/bin/heddle machine=(-m "$2") kernel=$3 size=$4
    shift 4
    case ${machine[1]} in
    functional) machine=(--functional) ;;
    *+*) machine=(-m "${machine[1]%%+*}" --set "${machine[1]#*+}") ;; # fermi+dram.latency=500
    esac
    "$@" "$heddle" run -q "${machine[@]}" "${mechs[@]}" --stats "$work/stats.json" -- \
        "$build/bin/bench_speed" "$kernel" --size "$size" > "$work/said" 2> "$work/errors" && return
    cat "$work/said" "$work/errors" >&2
    die "$kernel failed on ${machine[*]} ${mechs[*]}"
}

said() { grep -oE "\b$1=[0-9.]+" "$work/said" | cut -d= -f2; }
# A statistic of the whole run; 0 where a functional run has none.
stat() {
    sed -n '/"total"/,$p' "$work/stats.json" | grep -oE "\"(sm\.)?$1\": *[0-9]+" | head -1 |
        grep -oE '[0-9]+$' || echo 0
}
hash_of_run() { grep -oE '"hash":"[0-9a-f]+"' "$work/stats.json" || echo functional; }

# measure BUILD MACHINE KERNEL SIZE: one line: warp insts, thread insts, transactions, cycles, seconds, wall,
# peak KB, own KB, insts
measure() {
    simulate "$@"
    echo "$(stat warp_insts) $(stat thread_insts) $(stat transactions) $(stat cycles)" \
        "$(said cpu_s) $(said wall_s) $(said peak_kb) $(said own_kb) $(said host_insts)"
}
# The run of N that took the least processor time.
best() { local i; for ((i = 0; i < ${repeats:-1}; i++)); do measure "$@"; done | sort -k5,5g | head -1; }

# instructions BUILD MACHINE KERNEL: host instructions of the simulation per warp instruction
instructions() {
    command -v valgrind > /dev/null || die "--count needs valgrind"
    simulate "$1" "$2" "$3" tiny valgrind --tool=callgrind --trace-children=yes --collect-atstart=no \
        --toggle-collect=speed_simulate --callgrind-out-file="$work/callgrind.%p"
    grep -hE '^(summary|totals):' "$work"/callgrind.* |
        awk -v w="$(stat warp_insts)" '$2 > n { n = $2 } END { printf "%.1f\n", n / w }'
    rm -f "$work"/callgrind.*
}

# A functional run is about thirty times as fast: it gets ten times the work, so that its time is as exact.
size_on() {
    if [ -n "$size" ]; then echo "$size"; elif [ "$1" = functional ]; then echo paper; else echo small; fi
}
commit() { git -C "$root" describe --always --dirty 2> /dev/null || echo unknown; }

table() {
    local m k insts
    for m in ${machines//,/ }; do
        for k in $kernels; do
            printf '%s %s %s' "$m" "$k" "$(best "$build" "$m" "$k" "$(size_on "$m")")"
            insts=-
            [ -z "$count" ] || insts=$(instructions "$build" "$m" "$k")
            echo " $insts"
        done
    done | tee "$work/rows" | awk -v all="$(wc -w <<< "$all")" -f "$here/speed/table.awk"
    [ -z "$json" ] || awk -v commit="$(commit)" -f "$here/speed/json.awk" "$work/rows" > "$json"
    [ -z "$record" ] || awk -v commit="$(commit)" -v day="$(date -u +%F)" -v what="$record" \
        -f "$here/speed/history.awk" "$work/rows" >> "$here/history.tsv"
}

# copies NAME BUILD: one copy of a build for each run, $work/NAME.0 and so on. Where code lies in the host's
# memory changes its time by up to 4%, and a file stays where it is while the host has it cached.
copies() {
    local i at
    for ((i = 0; i < ${repeats:-5}; i++)); do
        at=$work/$1.$i
        mkdir -p "$at/bin" && cp -r "$2/lib" "$at" && cp "$2/bin/heddle" "$at/bin" || die "cannot copy $2"
    done
}

compare() {
    local m k i a b ha hb same much
    copies first "$build"
    copies second "$against"
    for m in ${machines//,/ }; do
        much=$(size_on "$m")
        for k in $kernels; do
            for ((i = 0; i < ${repeats:-5}; i++)); do
                a=$(measure "$work/first.$i" "$m" "$k" "$much"; hash_of_run > "$work/a"); ha=$(cat "$work/a")
                b=$(measure "$work/second.$i" "$m" "$k" "$much"; hash_of_run > "$work/b"); hb=$(cat "$work/b")
                [ "$ha" = "$hb" ] && same=same || same=DIFFERENT
                echo "$m $k $(cut -d' ' -f5 <<< "$a") $(cut -d' ' -f5 <<< "$b") $same"
            done
            [ -z "$count" ] ||
                echo "$m $k count $(instructions "$build" "$m" "$k") $(instructions "$against" "$m" "$k")"
        done
    done | awk -f "$here/speed/compare.awk"
}

# The least processor time of each counts: "MACHINE KERNEL WARP_INSTS SECONDS WARP_INSTS SECONDS", without and
# with the mechanisms; or "MACHINE KERNEL count INSTS INSTS".
mechanism() {
    local m k i without with names=()
    for m in ${mech//+/ }; do names+=(--mech "$m"); done
    for m in ${machines//,/ }; do
        [ "$m" != functional ] || continue
        for k in $kernels; do
            if [ -n "$count" ]; then
                mechs=() without=$(instructions "$build" "$m" "$k")
                mechs=("${names[@]}") with=$(instructions "$build" "$m" "$k")
                echo "$m $k count $without $with"
                continue
            fi
            for ((i = 0; i < ${repeats:-3}; i++)); do
                mechs=() without=$(measure "$build" "$m" "$k" "$(size_on "$m")" | cut -d' ' -f1,5)
                mechs=("${names[@]}") with=$(measure "$build" "$m" "$k" "$(size_on "$m")" | cut -d' ' -f1,5)
                echo "$m $k $without $with"
            done
        done
    done | awk -v mech="$mech" -f "$here/speed/mech.awk"
}

# Instructions, counted with --count, do not depend on what else the host does; seconds are shown beside them.
scaling() {
    local m k size
    for m in ${machines//,/ }; do
        for k in $kernels; do
            for size in tiny small paper; do echo "$m $k $size $(best "$build" "$m" "$k" "$size")"; done
        done
    done | awk -f "$here/speed/scaling.awk"
    echo
    echo "One warp that follows a chain, alone on the machine (host instructions per warp instruction)"
    for m in fermi fermi+sm.count=1 fermi+sm.count=60 fermi+sm.count=240 fermi+addr.channels=24 \
        fermi+dram.latency=1000 fermi+dram.latency=4000 rtx3080; do
        simulate "$build" "$m" chase1 tiny
        printf '%-28s %12s cycles %12s\n' "$m" "$(stat cycles)" "$(instructions "$build" "$m" chase1)"
    done
}

case $mode in
table) table ;;
against) compare ;;
mech) mechanism ;;
scaling) scaling ;;
esac
