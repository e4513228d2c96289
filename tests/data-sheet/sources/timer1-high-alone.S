; A high byte that is written alone does not reach the counter.
#include "common.inc"
        vectors
start:  ldi r17, 0x12
        sts TCNT1H, r17
        lds r18, TCNT1L
        lds r19, TCNT1H
        cpi r18, 0
        brne written
        cpi r19, 0
        brne written
        .global zero
zero:
        nop
end:    rjmp end
        .global written
written:
        nop
        rjmp end
