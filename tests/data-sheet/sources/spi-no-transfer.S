; A master that sends nothing sets no flag.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR)
        out SPCR, r16
        ldi r19, 100
1:      in r18, SPSR
        sbrc r18, SPIF
        rjmp flag
        sbrc r18, WCOL
        rjmp collision
        dec r19
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
        .global collision
collision:
        nop
        rjmp end
