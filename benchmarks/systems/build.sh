#!/bin/bash
# Rebuilds the images of the surge protectors (images/). Needs gcc-avr and avr-libc.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C
for range in 2 4 8 12 15; do
    flags=(-mmcu=atmega328p -Os -std=gnu99 -Wall -Wextra -fno-ident -DRANGE=$range)
    avr-gcc "${flags[@]}" -c -o images/surge.o surge.c
    avr-gcc "${flags[@]}" -o "images/surge-$range.elf" images/surge.o
    rm images/surge.o
done
