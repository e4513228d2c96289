; Nothing from outside triggers captures of timer 5 while ICP5 is an output.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDL1
        sts DDRL, r16
        sbi TIFR5, ICF5
1:      sbis TIFR5, ICF5
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
