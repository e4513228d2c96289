; A low level at SS sets SPIF although nothing is sent.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR)
        out SPCR, r16
1:      in r18, SPSR
        sbrs r18, SPIF
        rjmp 1b
        .global flag
flag:
        nop
end:    rjmp end
