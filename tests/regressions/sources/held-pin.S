; INT0 by any edge at PD2, a pin change of PD2 or PD3, and a byte received at PD0: each shows itself at port B.
#include "common.inc"
        vectors
start:  ldi r16, 0x07
        out DDRB, r16
        ldi r16, 0x01
        sts EICRA, r16
        out EIMSK, r16
        ldi r16, 0x0c
        sts PCMSK2, r16
        ldi r16, 0x04
        sts PCICR, r16
        ldi r16, (1 << RXEN0) | (1 << RXCIE0)
        sts UCSR0B, r16
        sei
loop:   rjmp loop
        .global vector_1
vector_1:
        sbi PORTB, 0
        reti
        .global vector_5
vector_5:
        sbi PORTB, 1
        reti
        .global vector_18
vector_18:
        lds r17, UDR0
        sbi PORTB, 2
        reti
