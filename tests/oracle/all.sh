#!/bin/bash
# Compares with independent tools: avr-objdump, avr-libc, simavr, the simulator of avr-gdb, Spin and pyModelChecking, and
# opens the HTML report in Chromium.
#
#   tests/oracle/all.sh             the tools must be there
#   tests/oracle/all.sh --install   installs what is missing with apt-get (as root or with sudo) and pip
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=(gcc libc6-dev perl python3 python3-venv gcc-avr avr-libc binutils-avr libsimavr-dev libelf-dev gdb-avr gtkwave spin chromium graphviz parallel slurm-wlm munge cmake make git libxml2-utils arduino-builder arduino-core-avr)

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

install_packages() {
    local missing=()
    for package in "${packages[@]}"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q "ok installed" || missing+=("$package")
    done
    [ ${#missing[@]} = 0 ] && return
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

if [ "${1:-}" = --install ]; then
    install_packages
    tests/oracle/logic/run --install-only
fi

# oracle COMMAND...: runs it and says how long it took.
oracle() {
    local begun=$SECONDS
    printf '\n--- %s\n' "$*"
    "$@"
    durations+=("$(printf '%5d s  %s' $((SECONDS - begun)) "$1")")
    printf -- '--- %d s\n' $((SECONDS - begun))
}
durations=()

oracle cargo test --quiet -p avr-isa --features oracle
oracle tests/oracle/devices/compare.py
oracle tests/oracle/samples/run
oracle tests/oracle/logic/run
oracle tests/oracle/run.sh
oracle tests/oracle/fuzz/run
oracle cargo build --quiet --release -p avr-tvar
oracle tests/oracle/book/run
oracle tests/oracle/graph/run "${CARGO_TARGET_DIR:-target}/release/avr-tvar"
oracle tests/oracle/batch/run "${CARGO_TARGET_DIR:-target}/release/avr-tvar"
oracle tests/oracle/junit/run "${CARGO_TARGET_DIR:-target}/release/avr-tvar"
oracle tests/oracle/full-disk/run "${CARGO_TARGET_DIR:-target}/release/avr-tvar"
oracle tests/oracle/integrations/run "${CARGO_TARGET_DIR:-target}/release/avr-tvar"
oracle tests/oracle/evidence/run.py "${CARGO_TARGET_DIR:-target}/release/avr-tvar"
oracle tests/oracle/stack/run.py "${CARGO_TARGET_DIR:-target}/release/avr-tvar"
oracle tests/oracle/html/run.py "${CARGO_TARGET_DIR:-target}/release/avr-tvar" "${CARGO_TARGET_DIR:-target}/html-report.png"

printf '\n--- all oracles\n'
printf '%s\n' "${durations[@]}"
