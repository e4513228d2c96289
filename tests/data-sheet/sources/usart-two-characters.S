; The receive buffer holds two characters, so that RXC0 stays 1 when the first one is read.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        ldi r20, 250
2:      nop
        nop
        nop
        dec r20
        brne 2b
        lds r18, UDR0
        lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp end
        .global second
second:
        nop
        lds r18, UDR0
        cpi r18, 0x5a
        brne end
        .global chosen
chosen:
        nop
end:    rjmp end
