; A level at PL0 triggers captures of timer 4 while the pin is an input.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 0xff & ~(1 << DDL0)
        sts DDRL, r16
1:      sbis TIFR4, ICF4
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
