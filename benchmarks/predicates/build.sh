#!/bin/bash
# Rebuilds the images of the heat map of predicates: one source, one image for each width, place and shape.
#
#   benchmarks/predicates/build.sh
#
# Needs gcc-avr, binutils-avr and avr-libc. The images are committed, so nothing else needs this script. They depend only on the
# source and the tools: no path of the machine gets into them.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C

flags=(-mmcu=atmega328p -std=gnu99 -Os -Wall -Wextra -fno-ident -gno-record-gcc-switches)

build() { # place, width, shapes...
    local held=$1 bits=$2 shape name
    shift 2
    for shape in "$@"; do
        name=$held-$bits-$shape
        # Compiled and linked apart, because the linker may put the name of the object file into the image.
        avr-gcc "${flags[@]}" "-DBITS=$bits" "-DHELD=IN_${held^^}" "-DSHAPE=${shape^^}" -c -o "images/$name.o" program.c
        avr-gcc "${flags[@]}" -o "images/$name.elf" "images/$name.o"
        avr-objcopy -O ihex -R .eeprom -R .fuse -R .lock "images/$name.elf" "images/$name.hex"
        rm "images/$name.o" "images/$name.elf"
    done
}

mkdir -p images
for bits in 8 16 32; do
    build memory "$bits" twice order signed loop interrupt changed
    build registers "$bits" twice order signed loop interrupt changed
done
build memory 1 twice loop interrupt changed
