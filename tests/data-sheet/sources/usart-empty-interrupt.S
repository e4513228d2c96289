; The interrupt of an empty transmit buffer is requested as soon as it is enabled, and is not cleared by the entry.
#include "common.inc"
        vectors
        .global vector_19
vector_19:
        lds r17, UCSR0A
        sbrs r17, UDRE0
        rjmp full
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, (1 << TXEN0) | (1 << UDRIE0)
        sts UCSR0B, r16
        sei
        nop
        nop
        nop
        .global passed
passed:
        nop
end:    rjmp end
        .global full
full:
        nop
        rjmp end
