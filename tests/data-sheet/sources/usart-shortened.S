; A character of eight bits that was not read yet when frames became shorter may have its upper bit: the receiver makes unused bits 0
; when it receives.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UCSZ01) | (1 << UCSZ00)
        ldi r17, (1 << RXEN0)
        ldi r18, (1 << UCSZ01)
        sts UCSR0C, r16
        sts UCSR0B, r17
1:      lds r19, UCSR0A
        sbrs r19, RXC0
        rjmp 1b
        sts UCSR0C, r18
        lds r19, UDR0
        sbrs r19, 7
        rjmp end
        .global upper
upper:
        nop
end:    rjmp end
