#!/usr/bin/env bash
# setup.sh: sourced by the other scripts. Installs the Debian packages that Heddle needs when run as root, and
# names those that are missing otherwise.
heddle_packages=(gcc clang cmake ninja-build pkg-config libyaml-dev libzstd-dev liblz4-dev libsqlite3-dev
    libgsl-dev libcmocka-dev libmpfr-dev)
# Only the tests of sweeps on a cluster start these; where they are missing those are skipped.
heddle_slurm_packages=(slurmctld slurmd slurm-client munge)

# These build the page of `heddle report`. They may come from elsewhere than Debian, so the commands are
# looked for: COMMAND:PACKAGE.
heddle_commands=(node:nodejs npm:npm)

# heddle_install PACKAGE...: as root.
heddle_install() {
    echo "setup: installing $*"
    apt-get update -qq &&
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

# heddle_setup [PACKAGE...]: and these. What makes the page may be missing: all the rest works without it.
heddle_setup() {
    local missing=() page=() p
    for p in "${heddle_commands[@]}"; do
        command -v "${p%%:*}" >/dev/null || page+=("${p#*:}")
    done
    if ! command -v dpkg-query >/dev/null; then
        echo "setup: not a Debian system; needed: ${heddle_packages[*]};" \
            "for the report page: ${heddle_commands[*]#*:}"
        return 0
    fi
    for p in "${heddle_packages[@]}" "$@"; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
    done
    if [ ${#missing[@]} -ne 0 ]; then
        if [ "$(id -u)" -ne 0 ]; then
            echo "setup: these packages are missing; install them and start again:" >&2
            echo "  sudo apt-get install ${missing[*]} ${page[*]}" >&2
            return 2
        fi
        heddle_install "${missing[@]}" || return
    fi
    [ ${#page[@]} -eq 0 ] && return 0
    [ "$(id -u)" -eq 0 ] && heddle_install "${page[@]}" && return 0
    echo "setup: without ${page[*]} the report page is not built: sudo apt-get install ${page[*]}"
}

# heddle_build PRESET [TARGET...]: configures once, builds with all cores, quiet unless something breaks.
heddle_build() {
    local preset=$1 log
    shift
    log=$(mktemp)
    if ! { cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}; } \
        >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        rm -f "$log"
        echo "build of preset '$preset' failed" >&2
        return 1
    fi
    rm -f "$log"
}
