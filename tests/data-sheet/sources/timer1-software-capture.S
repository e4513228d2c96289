; The program triggers a capture by driving the capture pin.
#include "common.inc"
        vectors
start:  sbi DDRB, DDB0
        ldi r16, 1 << ICES1
        sts TCCR1B, r16
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        sbi TIFR1, ICF1
        sbi PORTB, PORTB0
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        sbis TIFR1, ICF1
        rjmp end
        .global captured
captured:
        nop
end:    rjmp end
