; Characters that are not read in time are lost, which DOR0 says.
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
        lds r18, UCSR0A
        sbrs r18, DOR0
        rjmp end
        .global overrun
overrun:
        nop
end:    rjmp end
