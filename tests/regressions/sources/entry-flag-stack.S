; The stack gets deeper only where the flag that the entry into a handler cleared is seen as 0.
#include "common.inc"
        vectors
start:  ldi r16, 3
        sts EICRA, r16          ; rising edge
        sbi EIMSK, INT0
        large
wait:   sbis EIFR, INTF0
        rjmp wait
        sei
        nop
        nop
        nop
        nop
again:  sbic EIFR, INTF0        ; the handler has run
        rjmp again
        .rept 30
        push r16
        .endr
        .global reached
reached:
        .rept 30
        pop r16
        .endr
        rjmp again
        .global vector_1
vector_1:
        cbi EIMSK, INT0
        reti
