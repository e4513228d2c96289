; A character that is written while the USART has no clock may be sent, or not.
#include "common.inc"
        vectors
start:  ldi r16, 1 << TXEN0
        ldi r17, 1 << PRUSART0
        clr r18
        sts UCSR0B, r16
        sts PRR, r17
        sts UDR0, r16
        sts PRR, r18
1:      lds r19, UCSR0A
        sbrs r19, TXC0
        rjmp 1b
        .global sent
sent:
        nop
end:    rjmp end
