; The unused upper bits of a character of five bits are 0.
#include "common.inc"
        vectors
start:  ldi r16, 0
        sts UCSR0C, r16
        ldi r16, (1 << RXEN0)
        sts UCSR0B, r16
1:      lds r17, UCSR0A
        sbrs r17, RXC0
        rjmp 1b
        lds r18, UDR0
        mov r19, r18
        andi r19, 0xe0
        brne upper
        cpi r18, 0x1f
        brne end
        .global all
all:
        nop
end:    rjmp end
        .global upper
upper:
        nop
        rjmp end
