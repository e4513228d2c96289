; A capture has a vector of its own.
#include "common.inc"
        vectors
        .global vector_10
vector_10:
        .global captured
captured:
        nop
        rjmp end
        .global vector_11
vector_11:
        .global other
other:
        nop
        rjmp end
start:  ldi r16, 1 << ICIE1
        sts TIMSK1, r16
        sei
end:    rjmp end
