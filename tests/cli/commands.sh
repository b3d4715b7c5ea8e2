#!/usr/bin/env bash
# commands.sh HEDDLE SOURCE_FOLDER IS_JSON: the command line as a user meets it: results, help, and errors
# with place and exit status.
set -uo pipefail
heddle=$1
root=$2
is_json=$3
cd "$root" || exit 1
failures=0
out=$(mktemp)
trap 'rm -f "$out" "$out".*' EXIT

# expect STATUS PATTERN COMMAND...: runs heddle COMMAND; its status and a line of its output (both streams)
# must match.
expect() {
    local status=$1 pattern=$2 got
    shift 2
    # a program that heddle runs leaves its own buffers to the end: no matter for the leak checker
    local leaks=1
    [ "${1:-}" = run ] && leaks=0
    ASAN_OPTIONS=detect_leaks=$leaks "$heddle" "$@" >"$out" 2>&1
    got=$?
    if [ $got -ne "$status" ] || ! grep -Eq -- "$pattern" "$out"; then
        echo "FAILED: heddle $*"
        echo "  wanted status $status and /$pattern/, got status $got and:"
        sed 's/^/    /' "$out" | head -20
        failures=$((failures + 1))
    fi
}
bad() { expect 1 "$1" kernel tests/cli/bad.ptx "${@:2}"; }

# what works
expect 0 '^usage: heddle' --help
expect 2 '^usage: heddle'
expect 0 'heddle [0-9]' --version
commands='run kernel disasm list explain config sweep reproduce compare query report new'
for c in $commands; do expect 0 'examples:' $c --help; done
expect 0 '^maxwell .*\(default\)' list machines
expect 0 '^atax +PolyBench' list workloads
expect 0 '"name": "atax"' list workloads --json
expect 0 '^example +28  ' list experiments
expect 0 'atax: PASS' run atax --size tiny --quiet
expect 0 'atax: PASS' run workloads/atax/workload.yaml --size tiny --functional --quiet -- --seed 3
expect 2 "did you mean 'atax'" run atx
expect 2 'it has tiny, small, paper' run atax --size huge
expect 2 'one word too many' run atax bfs
expect 2 '.-size is for workloads' run --size tiny -- ./app
expect 0 'sm.registers: ' explain sm.registers
expect 2 "did you mean 'l1.hits'" explain l1.hit
expect 2 "did you mean 'fermi'" config dump -m fermii
expect 2 "did you mean 'machines'" list machine
expect 2 'stats: cannot write /nonexistent/x.json' run --stats /nonexistent/x.json -- true
expect 2 'timeline: cannot write /nonexistent/x.json' run --timeline /nonexistent/x.json -- true
narrow() { # no line is wider than a terminal
    "$heddle" "$@" | awk 'length($0) > 80 { print "FAILED: too wide: " $0; bad = 1 } END { exit bad }' ||
        failures=$((failures + 1))
}
for c in $commands; do narrow $c --help; done
narrow --help
for what in machines mechanisms options workloads experiments; do narrow list $what; done
for what in experiments machines mechanisms options params stats workloads; do
    "$heddle" list $what --json | "$is_json" ||
        { echo "FAILED: heddle list $what --json"; failures=$((failures + 1)); }
done
expect 2 '.-markdown is for stats' list params --markdown
expect 0 'hash ' kernel examples/saxpy.ptx saxpy --grid 1 --block 32 -mfermi --arg f32=2 --arg 'buf:f32[32]' \
    --arg 'buf:f32[32]' --arg s32=32
expect 2 "unknown option '-q5'" run -q5
expect 0 '^sm.count' explain sm
expect 0 '  count: 30 ' config dump -m fermi --set sm.count=30
expect 0 'ld\.32' disasm examples/saxpy.ptx
expect 0 'arg 2: f32\[1024\] hash [0-9a-f]{16}: 0 3 6 9' kernel examples/saxpy.ptx saxpy \
    --grid 4 --block 256 \
    --arg f32=2 --arg 'buf:f32[1K]=iota' --arg 'buf:f32[1K]=iota' --arg s32=1024
expect 0 '"values": \[1, 1, 1\]' kernel examples/saxpy.ptx saxpy --grid 4 --block 256 --json --show 3 \
    --arg f32=0 --arg 'buf:f32[1K]=rand' --arg 'buf:f32[1K]=1' --arg s32=1024
expect 0 'arg 2: ' kernel examples/saxpy.ptx saxpy --grid 4 --block 256 --out 2="$out.bin" \
    --arg f32=0 --arg 'buf:f32[1K]=rand' --arg 'buf:f32[1K]=iota' --arg s32=1024
expect 0 'arg 1: f32\[1024\] .*: 0 1 2 3' kernel examples/saxpy.ptx saxpy --grid 4 --block 256 \
    --arg f32=0 --arg "buf:f32[1K]=@$out.bin" --arg 'buf:f32[1K]' --arg s32=1024

saxpy=(kernel examples/saxpy.ptx saxpy --grid 4 --block 256 --arg f32=2 --arg 'buf:f32[1K]=iota' \
    --arg 'buf:f32[1K]=iota' --arg s32=1024)
expect 0 'arg 2: f32\[1024\] hash [0-9a-f]{16}: 0 3 6 9' "${saxpy[@]}" --functional
expect 0 '^heddle: no races found' "${saxpy[@]}" --races
# options that have no effect in a run without a clock are named
for option in '--mech swl' '--mech swl --mech-set swl.warps=1' '--sample 10' "--timeline $out.none" \
    --energy; do
    named=${option%% *}
    [ "${option##* --}" = "$option" ] || named=--mech-set
    # shellcheck disable=SC2086 # an option and its value
    expect 0 "^heddle: warning: $named has no effect in a run without a clock\$" \
        run nn --size tiny --functional --quiet $option
done
expect 0 '^heddle: warning: the summary of a run without a clock is a table' \
    "${saxpy[@]}" --functional --format gpgpusim
expect 2 "no mechanism is called 'swll'" run nn --size tiny --functional --mech swll
one_word=(kernel tests/cli/races.ptx one_word --block 64 --arg 'buf:u32[1]')
expect 1 '^  write at tests/cli/races.ptx:12, CTA \(0,0,0\), thread \(32,0,0\)' "${one_word[@]}" \
    --grid 1 --races
expect 1 '^heddle: 1 race found' "${one_word[@]}" --grid 2 --races
expect 0 '^heddle: [1-9] races found' run bfs --size tiny --races --quiet
meet=(kernel tests/cli/races.ptx meet --block 1024 --arg 'buf:u32[1]' --functional --set sm.count=3)
expect 0 'arg 0: u32\[1\] .*: 6' "${meet[@]}" --grid 6
expect 1 '^  6 CTAs resident, 1 cannot start before one of them ends' "${meet[@]}" --grid 7
expect 0 'cycles' "${saxpy[@]}" -m fermi
expect 0 'cycles' "${saxpy[@]}" -m fermi --no-skip --mech lrr
expect 0 '"timed": ' "${saxpy[@]}" --json
expect 0 'gpu_sim_cycle' "${saxpy[@]}" --stats gpgpusim
expect 0 'arg 2: ' "${saxpy[@]}" --quiet --sample 100 --timeline "$out.json"
grep -q traceEvents "$out.json" || { echo "FAILED: no timeline"; failures=$((failures + 1)); }
expect 0 'lrr +loose round robin' list mechanisms
expect 0 '^l1\.' list stats
expect 0 'one of: none, dram, infinite, perfect' explain ideal.memory
expect 0 'Nsight|ncu|l1tex' explain l1.accesses
expect 2 'no common tick' "${saxpy[@]}" --set clock.core=1399993 --set clock.xbar=700001 \
    --set clock.l2=900007 --set clock.dram=923987

# the same input gives the same output, bit for bit
"$heddle" kernel examples/saxpy.ptx saxpy --grid 4 --block 256 --arg f32=2 --arg 'buf:f32[1K]=rand' \
    --arg 'buf:f32[1K]=rand' --arg s32=1024 >"$out.1"
"$heddle" kernel examples/saxpy.ptx saxpy --grid 4 --block 256 --arg f32=2 --arg 'buf:f32[1K]=rand' \
    --arg 'buf:f32[1K]=rand' --arg s32=1024 >"$out.2"
cmp -s "$out.1" "$out.2" || { echo "FAILED: two equal runs differ"; failures=$((failures + 1)); }

# wrong use: status 2, a caret, a hint
expect 2 "did you mean 'kernel'" kernal
expect 2 'did you mean --grid' kernel examples/saxpy.ptx saxpy --gird 4
expect 2 "did you mean 'saxpy'" kernel examples/saxpy.ptx saxpi --grid 4 --block 32
expect 2 'takes 4 arguments, got 1' kernel examples/saxpy.ptx saxpy --grid 4 --block 32 --arg f32=1
expect 2 'has 4 bytes, this argument 8' kernel examples/saxpy.ptx saxpy --grid 1 --block 32 --arg f64=1 \
    --arg 'buf:f32[8]' --arg 'buf:f32[8]' --arg s32=1
expect 2 'a type is one of' kernel examples/saxpy.ptx saxpy --grid 1 --block 32 --arg f33=1
expect 2 'buf:TYPE\[COUNT\]' kernel examples/saxpy.ptx saxpy --grid 1 --block 32 --arg 'buf:f32[x]'
expect 2 'is needed|are needed' kernel examples/saxpy.ptx
expect 2 'one to three whole numbers' kernel examples/saxpy.ptx saxpy --grid 0 --block 32 --arg f32=1 \
    --arg 'buf:f32[8]' --arg 'buf:f32[8]' --arg s32=1
expect 2 'cannot read .*nothing.ptx' kernel nothing.ptx k --grid 1 --block 1
expect 2 "unknown parameter 'sm.cuont'" config dump --set sm.cuont=3
expect 2 "did you mean 'sm.count'" config dump --set sm.cuont=3
expect 2 'must be a whole number from 1 to 1024' config dump --set sm.count=0
expect 2 "no machine 'voodoo'" config dump -m voodoo
program=$(dirname "$heddle")/program_nbody
if [ -x "$program" ]; then
    expect 0 'issue slots +issued' run -m fermi -- "$program"
    expect 0 'nbody: PASS' run -m fermi -- "$program"
    expect 0 'nbody: PASS' run --functional -- "$program"
    expect 0 '"kernels":' run -m fermi --json -- "$program"
fi
expect 2 "no workload './app'" run ./app
expect 2 'nothing to run' run --functional
expect 2 'lrr|gto|mechanism' run --mech lrrr -- true
expect 2 'sample must be a whole number from 0 to' run --sample often -- true
expect 2 'cannot run' run --functional -- ./no/such/program
# a study keeps the named workloads where it has them
expect 0 '^20 runs: 0 in the store' sweep fidelity --workloads bfs,bicg --store "$out.none.db" --dry-run
expect 2 "has no workload 'bfss'" sweep fidelity --workloads bfss --dry-run
printf 'sm:\n  count: 15\n  wraps: 48\n' >"$out.yaml"
expect 2 ':3:3: error: unknown parameter .sm.wraps' config dump -m "$out.yaml"
printf 'sm: [\n' >"$out.yaml"
expect 2 'not valid YAML' config dump -m "$out.yaml"
head='.version 7.0\n.target sm_75\n.address_size 64\n.visible .entry k()\n{\n  .reg .b32 %%r<3>;\n'
printf "$head  add.s33 %%r1, %%r2, 1;\n  ret;\n}\n" >"$out.ptx"
expect 2 ':7:[0-9]+: error: .*s33' disasm "$out.ptx"
mma='mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%%r1}, {%%r1}, {%%r1}, {%%r1}'
printf "$head  $mma;\n  ret;\n}\n" >"$out.ptx"
expect 2 ":7:3: error: .*mma.*not supported" disasm "$out.ptx"
head -c 300 /bin/true >"$out.ptx"
expect 2 'error' disasm "$out.ptx"

# wrong programs: status 1, kernel, source line, CTA, thread, address, nearest allocation
bad 'out-of-bounds 4-byte store' past_end --grid 3 --block 32 --arg 'buf:s32[64]' --arg s32=1
bad "kernel 'past_end'" past_end --grid 3 --block 32 --arg 'buf:s32[64]' --arg s32=1
bad 'bad.cu:2 ' past_end --grid 3 --block 32 --arg 'buf:s32[64]' --arg s32=1
bad 'CTA \(2,0,0\), thread \(0,0,0\)' past_end --grid 3 --block 32 --arg 'buf:s32[64]' --arg s32=1
bad 'past the end of argument 0' past_end --grid 3 --block 32 --arg 'buf:s32[64]' --arg s32=1
bad 'out-of-bounds 4-byte load.*0x4' null_read --grid 1 --block 32 --arg 'buf:s32[64]' --arg s32=1
bad 'misaligned 4-byte store' misaligned --grid 1 --block 1 --arg 'buf:s32[64]' --arg s32=2
bad 'out-of-bounds 4-byte store to shared' shared_past --grid 1 --block 32 --arg 'buf:s32[64]' --arg s32=1
bad 'out-of-bounds 4-byte store to local' local_past --grid 1 --block 32 --arg 'buf:s32[64]' --arg s32=4000
bad 'barrier' stuck_barrier --grid 1 --block 64 --arg 'buf:s32[64]' --arg s32=32
bad 'instructions' endless --grid 1 --block 32 --arg 'buf:s32[64]' --arg s32=1 --set emu.warp_insts_max=100000
bad 'call' bad_pointer_call --grid 1 --block 32 --arg 'buf:s32[64]' --arg s32=12345
bad 'stack' deep --grid 1 --block 32 --arg 'buf:s32[64]' --arg s32=5000
bad 'trap' trapping --grid 1 --block 32 --arg 'buf:s32[64]' --arg s32=7
expect 2 '2048 threads|threads per CTA|block' kernel tests/cli/bad.ptx trapping --grid 1 --block 2048 \
    --arg 'buf:s32[64]' --arg s32=7
expect 2 'shared' kernel tests/cli/bad.ptx trapping --grid 1 --block 32 --shared 1M --arg 'buf:s32[64]' \
    --arg s32=7

[ $failures -eq 0 ] && echo "all command-line checks passed"
exit $((failures > 0))
