#!/bin/bash
# Rebuilds the images of the regressions. The images are committed, so nothing else needs this script.
#
#   tests/regressions/build.sh            all
#   tests/regressions/build.sh NAME ...   only these
#
# Needs gcc-avr, binutils-avr and avr-libc.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C
mkdir -p images
[ $# -gt 0 ] || set -- $(cd sources && ls -- *.[Sc] | sed 's/\.[Sc]$//')
for name in "$@"; do
    source=$(ls sources/"$name".[Sc])
    part=$(sed -n 's/^\(;\|\/\/\) device: //p' "$source")
    flags=(-mmcu="${part:-atmega328p}" -Os)
    [ "${source##*.}" = c ] || flags+=(-nostartfiles -nodefaultlibs)
    avr-gcc "${flags[@]}" -c -o "images/$name.o" "$source"
    avr-gcc "${flags[@]}" -o "images/$name.elf" "images/$name.o"
    rm "images/$name.o"
done
