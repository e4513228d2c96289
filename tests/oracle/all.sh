#!/bin/bash
# Compares with independent tools: avr-objdump, avr-libc, simavr, the simulator of avr-gdb, Spin and pyModelChecking, and
# opens the HTML report in Chromium.
#
#   tests/oracle/all.sh                  the tools must be there
#   tests/oracle/all.sh --install        installs what is missing with apt-get (as root or with sudo) and pip, and goes on
#   tests/oracle/all.sh --only-install   installs and ends
#   tests/oracle/all.sh --full           everything at its full size: the long tests of all crates, all samples, long fuzzing
#
# Without --full, samples are taken in quarters, and in eighths where each takes long (share.py), and fuzzing and random comparisons are short. The first step that fails
# ends the run; with --full all steps run.
set -euo pipefail
cd "$(dirname "$0")/../.."
source tests/oracle/steps.sh

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

fuzzing=6
step=step
every=
for option in "$@"; do
    case $option in
        --install | --only-install)
            install_packages
            tests/oracle/logic/run --install-only
            [ "$option" = --install ] || exit 0
            ;;
        --full)
            export AVR_TVAR_TESTS=long CASES=800 SPIN_CASES=25
            fuzzing=60
            step=step_of_all
            every=--all
            ;;
        *)
            echo "usage: tests/oracle/all.sh [--install | --only-install] [--full]" >&2
            exit 2
            ;;
    esac
done

oracle() { $step "oracle: $*" "$@"; }
release="${CARGO_TARGET_DIR:-target}/release"
tool="$release/avr-tvar"

step "release build" tests/oracle/build

# Each of these takes one processor: the longest begin first.
beside tests/oracle/integrations/run "$tool"
beside tests/oracle/samples/run
beside tests/oracle/logic/run
beside tests/oracle/fuzz/run "$fuzzing"
beside tests/oracle/run.sh
beside tests/oracle/html/run.py "$tool" "${CARGO_TARGET_DIR:-target}/html-report"
beside tests/oracle/devices/compare.py
beside tests/oracle/full-disk/run "$tool"
beside tests/oracle/batch/run "$tool"
beside tests/oracle/published/run "$tool"
beside tests/oracle/graph/run "$tool"
beside tests/oracle/junit/run "$tool"
beside tests/oracle/book/run
# Of the workspace, so that the fast tests have built it: with the same features.
beside cargo test --quiet --workspace --test objdump -- --ignored
side_by_side $every
[ $step = step_of_all ] || all_passed

# These take all processors.
oracle tests/oracle/regressions/run.py
oracle tests/oracle/data-sheet/run.py "$tool"
oracle tests/oracle/inclusion/run
oracle tests/oracle/explicit/run
oracle tests/oracle/evidence/run.py "$tool"
oracle tests/oracle/systems/run.py "$tool"
oracle tests/oracle/stack/run.py "$tool"
if [ "${AVR_TVAR_TESTS:-short}" = long ]; then
    oracle tests/oracle/package/run
    # Needs a network, unless the crate was fetched before.
    oracle tests/oracle/devices/compare_crate.py --faults
    oracle docs/pictures/terminal.py violated "$tool" --check
    oracle tests/oracle/mutants/run.py "$tool"
    $step "long tests" cargo test --workspace --no-fail-fast
fi
all_passed
