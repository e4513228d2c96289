; The oscillator calibration reads back as written.
#include "common.inc"
        vectors
start:  ldi r16, 0x60
        sts OSCCAL, r16
        ldi r24, 50
1:      dec r24
        brne 1b
        lds r25, OSCCAL
        cp r25, r16
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
