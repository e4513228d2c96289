; Idle sleep starts a conversion of an enabled converter, which still runs when INT0 wakes the processor.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        ldi r18, 0
        out EIMSK, r18
        reti
start:  ldi r16, (1 << ADEN) | (1 << ADPS2) | (1 << ADPS1) | (1 << ADPS0)
        sts ADCSRA, r16
        ldi r16, 1 << INT0
        out EIMSK, r16
        ldi r16, 1 << SE
        out SMCR, r16
        sei
        sleep
        cli
        lds r17, ADCSRA
        sbrs r17, ADSC
        rjmp end
        .global converting
converting:
        nop
end:    rjmp end
