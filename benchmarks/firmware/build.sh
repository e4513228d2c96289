#!/bin/bash
# Rebuilds the images that both tools verify, from the sources of firmware-samples/.
#
#   benchmarks/firmware/build.sh
#
# Needs gcc-avr, binutils-avr and avr-libc. The images are committed, so nothing else needs this script. It prints the
# labels with their byte addresses, as ../suite.ron must have them, and refuses an image with an instruction that
# machine-check-avr 0.7.1 lacks or executes wrongly.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C

samples=(calibration-{original,fixed}{,-complicated} factorial-3-bits)
# Without the last two options -Os counts eight rounds in two registers, with SBC or CPC.
flags=(-mmcu=atmega328p -std=gnu99 -Wall -Wextra -fno-ident -gno-record-gcc-switches -nostdlib
    -fno-tree-loop-ivcanon -fno-ivopts)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# Some instructions are not implemented. SBC, SBCI and CPC are, but take Z from the last byte alone, which matters where
# a branch asks for it.
check() { # image
    avr-objdump -d --no-show-raw-insn "$work/$1.elf" | awk -F'\t' -v image="$1" '
        $2 ~ /^(lpm|elpm|rcall|icall|ijmp|reti|sleep|wdr|break|spm)$/ ||
        $2 ~ /^(breq|brne)$/ && previous ~ /^(sbc|sbci|cpc)$/ {
            print image ": machine-check-avr cannot execute this as it should: " $0 > "/dev/stderr"
            bad = 1
        }
        { previous = $2; sub(/ +$/, "", previous) }
        END { exit bad }'
}

build() { # sample, level
    local image=$1.$2
    avr-gcc "${flags[@]}" "-$2" -o "$work/$image.elf" start.S "../../firmware-samples/$1/main.c"
    check "$image"
    avr-objcopy -O ihex "$work/$image.elf" "$image.hex"
    avr-nm "$work/$image.elf" | awk -v image="$image" '$3 ~ /^(loop_start|result_shown)$/ { print image, $3, $1 }'
}

for sample in "${samples[@]}"; do
    for level in Og Os; do
        build "$sample" "$level"
    done
done
