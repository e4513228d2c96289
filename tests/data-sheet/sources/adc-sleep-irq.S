; In the noise reduction mode a conversion starts by itself, and its end wakes the processor.
#include "common.inc"
        vectors
        .global vector_21
vector_21:
        .global entered
entered:
        nop
        reti
start:  ldi r16, (1 << REFS0) | (1 << ADLAR)
        sts ADMUX, r16
        ldi r16, (1 << ADEN) | (1 << ADIE) | (1 << ADPS0)
        sts ADCSRA, r16
        ldi r16, (1 << SM0) | (1 << SE)
        out SMCR, r16
        sei
        sleep
        cli
        lds r18, ADCH
        lds r19, ADCH
        cp r18, r19
        brne differ
        cpi r18, 0x77
        brne end
        .global chosen
chosen:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
