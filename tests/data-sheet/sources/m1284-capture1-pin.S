; A level at PD6 triggers captures of timer 1 while the pin is an input.
; device: atmega1284p
#include "common.inc"
        vectors
start:  ldi r16, 0xff & ~(1 << DDD6)
        out DDRD, r16
1:      sbis TIFR1, ICF1
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
