; The program requests a pin change interrupt by driving the pin.
#include "common.inc"
        vectors
        .global vector_3
vector_3:
        .global entered
entered:
        nop
        rjmp end
start:  sbi DDRB, DDB0
        ldi r16, 1 << PCINT0
        sts PCMSK0, r16
        nop
        nop
        nop
        nop
        nop
        sbi PCIFR, PCIF0
        ldi r16, 1 << PCIE0
        sts PCICR, r16
        sei
        sbi PORTB, PORTB0
end:    rjmp end
