#!/usr/bin/env bash
# setup.sh: sourced by the other scripts. Makes sure that the Debian packages Heddle needs are there: installs them when
# run as root, says which are missing when not.
heddle_packages=(gcc clang cmake ninja-build pkg-config libyaml-dev libzstd-dev liblz4-dev libsqlite3-dev libcmocka-dev libmpfr-dev)

heddle_setup() {
    command -v dpkg-query >/dev/null || { echo "setup: not a Debian system; needed: ${heddle_packages[*]}"; return 0; }
    local missing=() p
    for p in "${heddle_packages[@]}" "$@"; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing+=("$p")
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    if [ "$(id -u)" -ne 0 ]; then
        echo "setup: these packages are missing; install them and start again:" >&2
        echo "  sudo apt-get install ${missing[*]}" >&2
        return 2
    fi
    echo "setup: installing ${missing[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# heddle_build PRESET [TARGET...]: configures once, builds with all cores, quiet unless something breaks.
heddle_build() {
    local preset=$1 log
    shift
    log=$(mktemp)
    if ! { cmake --preset "$preset" && cmake --build --preset "$preset" ${1:+--target "$@"}; } >"$log" 2>&1; then
        tail -n 40 "$log" >&2
        rm -f "$log"
        echo "build of preset '$preset' failed" >&2
        return 1
    fi
    rm -f "$log"
}
