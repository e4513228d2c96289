; The program requests an external interrupt by driving the pin.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        .global entered
entered:
        nop
        rjmp end
start:  sbi DDRD, DDD2
        ldi r16, (1 << ISC01) | (1 << ISC00)
        sts EICRA, r16
        nop
        nop
        nop
        nop
        nop
        sbi EIFR, INTF0
        ldi r16, 1 << INT0
        out EIMSK, r16
        sei
        sbi PORTD, PORTD2
end:    rjmp end
