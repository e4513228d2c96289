; A low level requests an interrupt as long as it lasts.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        sbic EIFR, INTF0
        rjmp flag
        cpi r20, 1
        breq again
        ldi r20, 1
        .global entered
entered:
        nop
        reti
start:  clr r20
        ldi r16, 1 << INT0
        out EIMSK, r16
        sei
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
        .global again
again:
        nop
        rjmp end
