; A level at PC7 triggers captures of timer 3 while the pin is an input.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 1 << DDC6
        out DDRC, r16
1:      sbis TIFR3, ICF3
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
