; The entry into the handler of the overflow of timer 0 clears TOV0, which was known to be 1 before; the timer is stopped.
#include "common.inc"
        vectors
start:  ldi r16, 1
        out TCCR0B, r16
        sts TIMSK0, r16
        large
wait:   sbis TIFR0, TOV0
        rjmp wait
        ldi r16, 0
        out TCCR0B, r16
        sei
        nop
        nop
        nop
        nop
again:  sbic TIFR0, TOV0        ; the handler has run
        rjmp again
        .global reached
reached:
        .word 0x0001            ; a reserved opcode
        rjmp again
        .global vector_16
vector_16:
        push r17
        in r17, SREG
        push r17
        ldi r17, 0
        sts TIMSK0, r17
        pop r17
        out SREG, r17
        pop r17
        reti
