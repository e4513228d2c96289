; A low level at SS, an input, turns the master into a slave.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR)
        out SPCR, r16
1:      in r18, SPCR
        sbrc r18, MSTR
        rjmp 1b
        .global slave
slave:
        nop
end:    rjmp end
