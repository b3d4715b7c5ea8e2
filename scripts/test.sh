#!/usr/bin/env bash
# test.sh: sets up, builds and runs all tests: release by gcc, then the sanitizers (which replay the fuzz
# corpora too; tests whose code no sanitizer sees are left out there), then clang, whose warnings are errors
# as well: they come from its front end, so nothing is optimised. `scripts/test.sh quick` stops after the
# release tests.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/setup.sh
heddle_setup
if [ "$(id -u)" -eq 0 ] && ! heddle_setup chromium; then
    echo "setup: no Chromium: the report page will not be opened in a browser"
fi
if [ "$(id -u)" -eq 0 ] && ! heddle_setup "${heddle_slurm_packages[@]}"; then
    echo "setup: no Slurm: the sweeps through it will be skipped"
fi

step() { printf '\n== %s (%d s so far)\n' "$1" "$SECONDS"; }
# Some tests wait more than they compute (a Slurm, a browser, programs that are told to stop): one more than
# there are cores keeps the cores busy.
jobs=$(($(nproc) + 1))

step "release: build"
heddle_build release
step "release: tests"
ctest --test-dir build/release -j "$jobs" --output-on-failure --no-tests=error
[ "${1:-}" = quick ] && exit 0

step "address and undefined-behaviour sanitizers: build"
heddle_build sanitize
step "address and undefined-behaviour sanitizers: tests"
# A pointer in a stale register or in a dead part of the stack does not keep memory alive: otherwise a leak
# shows on one machine and not on another.
LSAN_OPTIONS=use_stacks=0:use_registers=0 \
    ctest --test-dir build/sanitize -j "$jobs" --output-on-failure --no-tests=error

step "thread sanitizer: host threads, the machine on several threads, the SMs' ring"
heddle_build tsan test_rt_threads timing_test_threads timing_test_ccn timing_test_ccn_stale
ctest --test-dir build/tsan -j "$jobs" -R 'rt_threads|timing.test_(threads|ccn)' --output-on-failure \
    --no-tests=error

step "clang: build"
heddle_build clang-warnings

step "formatting"
if command -v clang-format >/dev/null && git rev-parse --git-dir >/dev/null 2>&1; then
    git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror
else
    echo "SKIPPED: clang-format is not installed, or this is not a git checkout"
fi
step "all tests passed"
