; Nothing from outside triggers captures of timer 3 while ICP3, which is MOSI, is an output.
; device: atmega1284p
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDB5
        out DDRB, r16
        ldi r16, 1 << ICF3
        out TIFR3, r16
1:      sbis TIFR3, ICF3
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
