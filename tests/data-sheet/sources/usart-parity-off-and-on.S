; An error of parity need not be forgotten while parity is off for a moment and the character was not read.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UPM01) | (1 << UCSZ01) | (1 << UCSZ00)
        ldi r18, (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r17, (1 << RXEN0)
        sts UCSR0B, r17
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        sts UCSR0C, r18
        lds r17, UCSR0A
        sbrc r17, UPE0
        rjmp without
        sts UCSR0C, r16
        lds r17, UCSR0A
        sbrs r17, UPE0
        rjmp end
        .global kept
kept:
        nop
end:    rjmp end
        .global without
without:
        nop
        rjmp end
