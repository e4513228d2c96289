#!/bin/bash
# Rebuilds the images of the scaling curves: one source for each family, one image for each size.
#
#   benchmarks/scaling/build.sh
#
# Needs gcc-avr, binutils-avr and avr-libc. The images are committed, so nothing else needs this script. They depend only on the
# sources and the tools: no path of the machine gets into them. suite.ron lists the same families and sizes.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C

# Without the last option the recursion becomes a loop.
flags=(-mmcu=atmega328p -std=gnu99 -Os -Wall -Wextra -fno-ident -gno-record-gcc-switches -fno-optimize-sibling-calls)

build() { # family, sizes...
    local family=$1 size
    shift
    for size in "$@"; do
        # Compiled and linked apart, because the linker may put the name of the object file into the image.
        avr-gcc "${flags[@]}" "-DN=$size" -c -o "images/$family-$size.o" "$family.c"
        avr-gcc "${flags[@]}" -o "images/$family-$size.elf" "images/$family-$size.o"
        rm "images/$family-$size.o"
        avr-objcopy -O ihex -R .eeprom -R .fuse -R .lock "images/$family-$size.elf" "images/$family-$size.hex"
    done
}

mkdir -p images
build bits 2 4 6 8 10 12 14 16 18 20
build delay 100 1000 10000 100000 1000000 10000000
build recursion 7 15 31 63 127 255
build interrupts 0 1 2 3 4 5
build buffer 8 16 32 64 128 256
