#!/bin/bash
# Rebuilds the images in which findings are looked for. The images are committed, so nothing else needs this script.
#
# Needs gcc-avr, binutils-avr and avr-libc.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C
mkdir -p images
debug=(-gdwarf-4 -gno-record-gcc-switches -fdebug-prefix-map="$PWD"=.)
build() {
    local name=$1 source=idioms
    [[ $name != stores-* ]] || source=stores
    shift
    avr-gcc -std=gnu11 -Wall "$@" -c -o "images/$name.o" "sources/$source.c"
    avr-gcc "$@" -o "images/$name.elf" "images/$name.o"
    rm "images/$name.o"
}
for level in Os Og O2 O3 O0; do
    build "idioms.$level" -mmcu=atmega328p "-$level" "${debug[@]}"
done
build idioms.no-types -mmcu=atmega328p -Os
build idioms.prologues -mmcu=atmega328p -Os -mcall-prologues "${debug[@]}"
build idioms.tiny -mmcu=attiny85 -Os "${debug[@]}" -DTINY
for fault in 1 2 3 4 5 6; do
    build "fault-$fault" -mmcu=atmega328p -Os "${debug[@]}" "-DFAULT=$fault"
done
for number in {1..14}; do
    build "stores-$number" -mmcu=atmega328p -Os "${debug[@]}" "-DCASE=$number"
done
avr-gcc -mmcu=atmega328p -nostartfiles -nodefaultlibs "${debug[@]}" -c -o images/places.o sources/places.S
avr-gcc -mmcu=atmega328p -nostartfiles -nodefaultlibs -o images/places.elf images/places.o
rm images/places.o
