; One more instruction runs after the write to IVSEL, whatever is requested.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        cpi r20, 1
        brne early
        .global late
late:
        nop
2:      rjmp 2b
        .global early
early:
        nop
        rjmp 2b
start:  ldi r16, 1 << IVCE
        clr r17
        clr r20
        ldi r21, 1 << INT0
        ldi r22, 1 << ISC01
        sts EICRA, r22
        out EIMSK, r21
        out MCUCR, r16
        sei
        out MCUCR, r17
        ldi r20, 1
end:    rjmp end
