; Each group of pins has a vector of its own.
#include "common.inc"
        vectors
        .global vector_3
vector_3:
        .global first
first:
        nop
        rjmp end
        .global vector_4
vector_4:
        .global second
second:
        nop
        rjmp end
        .global vector_5
vector_5:
        .global third
third:
        nop
        rjmp end
start:  ldi r16, 1 << PCINT9
        sts PCMSK1, r16
        ldi r16, 1 << PCINT18
        sts PCMSK2, r16
        ldi r16, (1 << PCIE2) | (1 << PCIE1)
        sts PCICR, r16
        sei
end:    rjmp end
