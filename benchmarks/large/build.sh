#!/bin/bash
# Rebuilds the images of the large programs. Needs gcc-avr, binutils-avr and avr-libc.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C
flags=(-mmcu=atmega328p -Wall -Wextra -Os -gdwarf-4 -gno-record-gcc-switches -fno-ident -fdebug-prefix-map="$PWD"=.)
mkdir -p images
for source in *.c; do
    name=${source%.c}
    avr-gcc "${flags[@]}" -c -o "images/$name.o" "$source"
    avr-gcc "${flags[@]}" -o "images/$name.elf" "images/$name.o"
    rm "images/$name.o"
done
