; Two receive interrupts without a pause: the handler counts, and the main program looks whether both came between two reads of the count.
#include "common.inc"
        vectors
        .global vector_18
vector_18:
        lds r17, UDR0
        inc r24
        reti
start:  clr r24
        ldi r16, (1 << RXEN0) | (1 << RXCIE0)
        sts UCSR0B, r16
        ldi r20, 100
settle: dec r20
        brne settle
loop:   clr r24
        sei
        nop
        nop
        nop
        nop
        cli
        cpi r24, 2
        brne loop
        .global reached
reached:
        nop
end:    rjmp end
