; The high byte of a running timer stays as it was when the low byte was read.
#include "common.inc"
        vectors
start:  ldi r16, 1 << CS10
        sts TCCR1B, r16
        lds r18, TCNT1L
        lds r19, TCNT1H
        ldi r21, 250
1:      nop
        nop
        nop
        dec r21
        brne 1b
        lds r20, TCNT1H
        cp r19, r20
        brne differ
        .global same
same:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
