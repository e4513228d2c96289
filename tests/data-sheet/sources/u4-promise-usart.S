; The transmit buffer becomes empty while the transmitter is on, and need not while a pin holds it up.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 1 << TXEN1
        sts UCSR1B, r16
        sts UDR1, r16
        sts UDR1, r16
1:      lds r17, UCSR1A
        sbrs r17, UDRE1
        rjmp 1b
        .global done
done:   ldi r16, 1 << CTSEN
        sts UCSR1D, r16
        sts UDR1, r16
        sts UDR1, r16
2:      lds r17, UCSR1A
        sbrs r17, UDRE1
        rjmp 2b
        .global held_up
held_up:
        nop
end:    rjmp end
