#!/bin/bash
# Rebuilds the images of the programs that the data sheets decide. The images are committed, so nothing else needs this script.
#
#   tests/data-sheet/build.sh            all
#   tests/data-sheet/build.sh NAME ...   only these
#
# A line `; far: ADDRESS` of a source says where the section `.far` lies in flash.
#
# Needs gcc-avr, binutils-avr and avr-libc.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C
mkdir -p images
[ $# -gt 0 ] || set -- $(cd sources && ls -- *.S | sed 's/\.S$//')
for name in "$@"; do
    part=$(sed -n 's/^; device: //p' "sources/$name.S")
    flags=(-mmcu="${part:-atmega328p}" -nostartfiles -nodefaultlibs)
    avr-gcc "${flags[@]}" -I ../regressions/sources -c -o "images/$name.o" "sources/$name.S"
    far=$(sed -n 's/^; far: //p' "sources/$name.S")
    avr-gcc "${flags[@]}" ${far:+-Wl,--section-start=.far="$far"} -o "images/$name.elf" "images/$name.o"
    rm "images/$name.o"
done
