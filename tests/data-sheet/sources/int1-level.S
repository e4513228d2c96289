; A low level at INT1 requests again and again, without its flag.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        .global other
other:
        nop
        rjmp end
        .global vector_2
vector_2:
        sbic EIFR, INTF1
        rjmp flag
        cpi r20, 1
        breq again
        ldi r20, 1
        .global entered
entered:
        nop
        reti
start:  clr r20
        ldi r16, 1 << INT1
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
