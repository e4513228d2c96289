; The flags of a timer that was never started stay 0, and so do its interrupts.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, (1 << OCIE4D) | (1 << OCIE4A) | (1 << OCIE4B) | (1 << TOIE4)
        sts TIMSK4, r16
        sei
        ldi r17, 3
1:      in r18, TIFR4
        tst r18
        brne flag
        dec r17
        brne 1b
        .global kept
kept:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
        handler 38, timer4_a
        handler 39, timer4_b
        handler 40, timer4_d
        handler 41, timer4_overflow
