#!/bin/bash
# Rebuilds the images of the samples, and the property files of the HEX images.
#
#   firmware-samples/build.sh            all samples
#   firmware-samples/build.sh blink ...  only these
#
# Needs gcc-avr, binutils-avr and avr-libc. The images are committed, so nothing else needs this script. They depend
# only on the sources and the tools: no path of the machine gets into them.
set -euo pipefail
cd "$(dirname "$0")"
export LC_ALL=C

common_flags=(-Wall -Wextra -gdwarf-4 -gno-record-gcc-switches -fno-ident -fdebug-prefix-map="$PWD"=.)

part_of() { # sample
    case $1 in
    *-168p) echo atmega168p ;;
    *-88p) echo atmega88p ;;
    *-1284p) echo atmega1284p ;;
    *-2560 | *-2560-buggy) echo atmega2560 ;;
    *-32u4 | *-32u4-buggy) echo atmega32u4 ;;
    *-13) echo attiny13 ;;
    *-85) echo attiny85 ;;
    *-84) echo attiny84 ;;
    *) echo atmega328p ;;
    esac
}

# Compiled and linked apart, because the linker may put the name of the object file into the image.
compile() { # source, level, image without extension, further flags
    local source=$1 level=$2 image=$3
    local flags=("-mmcu=$(part_of "$(dirname "$1")")" "${common_flags[@]}")
    shift 3
    avr-gcc "${flags[@]}" "-$level" "$@" -c -o "$image.o" "$source"
    avr-gcc "${flags[@]}" "-$level" "$@" -o "$image.elf" "$image.o"
    rm "$image.o"
    avr-objcopy -O ihex -R .eeprom -R .fuse -R .lock "$image.elf" "$image.hex"
}

# A HEX file has no symbols, so its property file names byte addresses instead: `pc == label`, `pc in function` and
# `call(function)` are replaced for code, and the name of a variable of one or two bytes by its cell. Without a symbol to replace, the HEX
# image is checked with the property file of the ELF image.
hex_properties() { # image without extension, template, result
    avr-nm -S "$1.elf" | perl -e '
        my ($template, $result, $image) = @ARGV;
        while (<STDIN>) {
            my @column = split;
            my $size = @column == 4 ? hex $column[1] : 0;
            $symbol{$column[-1]} = [hex $column[0], $size];
        }
        sub address { sprintf "0x%04x", $_[0] }
        sub place_of {
            my ($name) = @_;
            my ($start, $size) = @{$symbol{$name}};
            return sprintf "(symbol: \"%s\", at: %s, bytes: %d)", $name, address($start - 0x800000), $size;
        }
        sub replaced {
            my ($formula) = @_;
            for my $name (sort keys %symbol) {
                my ($start, $size) = @{$symbol{$name}};
                if ($start < 0x800000) {
                    my ($from, $to) = (address($start), address($start + $size));
                    $formula =~ s/\bpc (==|!=) \Q$name\E\b/pc $1 $from/g;
                    $formula =~ s/\(pc in \Q$name\E\)/(pc >= $from && pc < $to)/g;
                    $formula =~ s/\bcall\(\Q$name\E\)/call($from)/g;
                } elsif ($size == 1 || $size == 2) {
                    my $cell = ($size == 1 ? "mem" : "mem16") . "[" . address($start - 0x800000) . "]";
                    $formula =~ s/(?<![\w.])\Q$name\E(?![\w(])/$cell/g;
                }
            }
            return $formula;
        }
        open my $in, "<", $template or die $!;
        my ($before, $after) = ("", "");
        while (my $line = <$in>) {
            $before .= $line;
            $line =~ s/((?:check|to|": ).*?")([^"]*)(?="[^"]*$)/$1 . replaced($2)/e;
            $line =~ s/\(symbol: "(\w+)"\)/place_of($1)/ge;
            $line =~ s/"(\w+)"(?=: \((?:returns|writes|stack):)/"\"" . address($symbol{$1}[0]) . "\""/ge;
            $after .= $line;
        }
        unlink $result;
        exit if $before eq $after;
        open my $out, ">", $result or die $!;
        print $out "// Written by firmware-samples/build.sh with the addresses of $image.hex.\n$after";
    ' "$2" "$3" "$(basename "$1")"
}

properties_of() { # sample, image name: an image may have a property file of its own
    local properties=../properties
    local template=$properties/$1.ron
    if [ -e "$properties/$2.ron" ]; then
        template=$properties/$2.ron
    fi
    if [ -e "$template" ]; then
        hex_properties "$1/$2" "$template" "$properties/$2.hex.ron"
    fi
}

flags_of() { # sample: boot loaders lie in the boot section, and far functions behind 128 KiB
    case $1 in
    *-2560 | *-2560-buggy) echo -Wl,--section-start=.far=0x20000 ;;
    boot-serial* | boot-flag*) echo -Wl,--section-start=.text=0x7000 ;;
    esac
}

levels_of() { # sample
    case $1 in
    answer-* | blink-delays | blink-modes* | blink-ticks* | nested-ticks | wait-flags*) echo Og Os O2 ;;
    *) echo Og Os ;;
    esac
}

build() { # sample
    local sample=$1 source level image
    if [ -e "$sample/main.S" ]; then
        compile "$sample/main.S" O0 "$sample/$sample" -nostartfiles -nodefaultlibs -Wl,--section-start=.boot=0x7000
        properties_of "$sample" "$sample"
        return
    fi
    source=$(echo "$sample"/main.c*)
    for level in $(levels_of "$sample"); do
        image=$sample.$level
        case $source in
        *.cpp) compile "$source" $level "$sample/$image" -std=gnu++11 -fno-exceptions -fno-threadsafe-statics ;;
        *) compile "$source" $level "$sample/$image" -std=gnu99 $(flags_of "$sample") ;;
        esac
        properties_of "$sample" "$image"
    done
}

if [ $# -eq 0 ]; then
    set -- $(ls -d */ | tr -d / | grep -v -e '^common$' -e '^systems$')
fi
for sample in "$@"; do
    build "$sample"
done
