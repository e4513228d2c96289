; The entry into the handler clears TXC0.
#include "common.inc"
        vectors
        .global vector_20
vector_20:
        lds r17, UCSR0A
        sbrc r17, TXC0
        rjmp still
        cpi r20, 1
        breq again
        ldi r20, 1
        .global entered
entered:
        nop
        reti
start:  clr r20
        ldi r16, (1 << TXEN0) | (1 << TXCIE0)
        sts UCSR0B, r16
        ldi r16, 0x5a
        sts UDR0, r16
        sei
end:    rjmp end
        .global still
still:
        nop
        rjmp end
        .global again
again:
        nop
        rjmp end
