; The transmit buffer becomes empty while the transmitter is on, and need not while it is off.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TXEN0)
        sts UCSR0B, r16
        sts UDR0, r16
        sts UDR0, r16
1:      lds r17, UCSR0A
        sbrs r17, UDRE0
        rjmp 1b
        .global done
done:   sts UDR0, r16
        sts UDR0, r16
        ldi r16, (1 << UMSEL00)
        sts UCSR0C, r16
2:      lds r17, UCSR0A
        sbrs r17, UDRE0
        rjmp 2b
        .global clocked
clocked:
        nop
end:    rjmp end
