; MOSI of a slave is an input whatever the direction register says.
#include "common.inc"
        vectors
start:  ldi r16, 0xff
        out DDRB, r16
        ldi r16, 1 << SPE
        out SPCR, r16
        nop
        nop
        in r18, PINB
        sbrc r18, PINB3
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
