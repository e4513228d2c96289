; No loop at the end: execution runs into erased flash.
#include <avr/io.h>

        ldi r16, 0xff
        out _SFR_IO_ADDR(DDRD), r16
        .global fault
fault:  nop
