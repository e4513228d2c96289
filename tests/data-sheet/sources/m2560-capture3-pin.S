; A level at PE7 triggers captures of timer 3 while the pin is an input.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 0xff & ~(1 << DDE7)
        out DDRE, r16
1:      sbis TIFR3, ICF3
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
