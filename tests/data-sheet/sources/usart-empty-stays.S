; As long as nothing is written UDRE0 stays 1 and TXC0 stays 0.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TXEN0)
        sts UCSR0B, r16
        ldi r18, 100
1:      lds r17, UCSR0A
        sbrs r17, UDRE0
        rjmp full
        sbrc r17, TXC0
        rjmp sent
        dec r18
        brne 1b
        .global ready
ready:
        nop
end:    rjmp end
        .global full
full:
        nop
        rjmp end
        .global sent
sent:
        nop
        rjmp end
