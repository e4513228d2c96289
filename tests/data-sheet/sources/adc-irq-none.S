; Without a conversion there is no interrupt of the converter.
#include "common.inc"
        vectors
        .global vector_21
vector_21:
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, (1 << ADEN) | (1 << ADIE) | (1 << ADPS0)
        sts ADCSRA, r16
        sei
        nop
        .global running
running:
        nop
end:    rjmp end
