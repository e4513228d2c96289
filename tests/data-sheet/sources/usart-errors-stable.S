; The error flags stay as they are until the data are read.
#include "common.inc"
        vectors
start:  ldi r16, (1 << UPM01) | (1 << UCSZ01) | (1 << UCSZ00)
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        ldi r20, 200
2:      dec r20
        brne 2b
        lds r18, UCSR0A
        eor r17, r18
        sbrc r17, FE0
        rjmp differ
        sbrc r17, UPE0
        rjmp differ
        sbrs r18, RXC0
        rjmp lost
        .global same
same:
        nop
end:    rjmp end
        .global differ
differ:
        nop
        rjmp end
        .global lost
lost:
        nop
        rjmp end
