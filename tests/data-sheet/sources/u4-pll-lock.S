; The loop locks at some moment, and need not.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 1 << PLLE
        out PLLCSR, r16
1:      in r17, PLLCSR
        sbrs r17, PLOCK
        rjmp 1b
        .global locked
locked:
        nop
        in r17, PLLCSR
        sbrs r17, PLOCK
        rjmp lost
        .global stays
stays:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
