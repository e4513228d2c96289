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
    # The format of printf with floating-point numbers, for those that print them.
    libraries=()
    if grep -q "<math.h>" "$source"; then
        libraries=(-Wl,-u,vfprintf -lprintf_flt -lm)
    fi
    avr-gcc "${flags[@]}" -o "images/$name.elf" "images/$name.o" "${libraries[@]}"
    rm "images/$name.o"
done
