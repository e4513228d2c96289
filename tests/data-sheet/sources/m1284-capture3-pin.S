; A level at MOSI, which is ICP3 as well, triggers captures of timer 3 while the pin is an input.
; device: atmega1284p
#include "common.inc"
        vectors
start:  ldi r16, 0xff & ~(1 << DDB5)
        out DDRB, r16
1:      sbis TIFR3, ICF3
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
