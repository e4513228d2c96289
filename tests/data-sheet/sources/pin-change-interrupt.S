; The change of an enabled pin requests the interrupt of its group and no other one.
#include "common.inc"
        vectors
        .global vector_3
vector_3:
        .global entered
entered:
        nop
        rjmp end
        .global vector_5
vector_5:
        .global other
other:
        nop
        rjmp end
start:  ldi r16, 1 << PCINT1
        sts PCMSK0, r16
        ldi r16, (1 << PCIE0) | (1 << PCIE2)
        sts PCICR, r16
        sei
end:    rjmp end
