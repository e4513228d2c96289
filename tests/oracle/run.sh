#!/bin/sh
# Compares the executor with libsimavr, and with the simulator of avr-gdb where libsimavr is known to be wrong.
#
#   tests/oracle/run.sh [--seed N] [--falsify FLAG]
#
# Needs gcc, libsimavr-dev, libelf-dev, binutils-avr and gdb-avr besides Rust. Exit code 1: something differs.
set -eu
cd "$(dirname "$0")/../.."
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
cc -O2 -Wall -Wextra -o "$directory/stepper" tests/oracle/simavr/stepper.c -lsimavr -lelf
tests/oracle/build
"${CARGO_TARGET_DIR:-target}/release/simavr-oracle" "$directory/stepper" tests/oracle/simavr/regressions "$@"
