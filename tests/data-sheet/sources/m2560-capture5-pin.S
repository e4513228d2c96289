; A level at PL1 triggers captures of timer 5 while the pin is an input.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 0xff & ~(1 << DDL1)
        sts DDRL, r16
1:      sbis TIFR5, ICF5
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
