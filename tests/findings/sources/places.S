; Functions with hazards, each called while a pin is high.
#include <avr/io.h>

        .section .text
        .type start, @function
start:  in r16, _SFR_IO_ADDR(PINB)
        sbrc r16, 0
        rcall first
        sbrc r16, 1
        rcall second
        sbrc r16, 2
        rcall third
        sbrc r16, 3
        rcall fourth
        rjmp start
        .size start, . - start

        .type first, @function
first:  sts 0x0020, r16 ; no register is there
        ret
        .size first, . - first

        .type second, @function
second: nop
inner:  sts 0x0021, r16 ; neither here
        ret
        .size second, . - second

        .type third, @function
third:  .word 0x91ad ; ld r26, X+
        ret
        .size third, . - third

        .type fourth, @function
fourth: .word 0x91ad ; ld r26, X+
        ret
        .size fourth, . - fourth

        .data
        .type cell, @object
cell:   .byte 0
        .size cell, 1
