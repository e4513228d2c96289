; A master whose SS is an output stays a master.
#include "common.inc"
        vectors
start:  ldi r16, (1 << DDB2) | (1 << DDB3) | (1 << DDB5)
        out DDRB, r16
        ldi r16, (1 << SPE) | (1 << MSTR)
        out SPCR, r16
        ldi r19, 100
1:      in r18, SPCR
        sbrs r18, MSTR
        rjmp slave
        dec r19
        brne 1b
        .global master
master:
        nop
end:    rjmp end
        .global slave
slave:
        nop
        rjmp end
