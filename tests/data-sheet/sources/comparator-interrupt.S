; A change of the output of the comparator requests an interrupt.
#include "common.inc"
        vectors
        .global vector_23
vector_23:
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, 1 << ACIE
        out ACSR, r16
        sei
end:    rjmp end
