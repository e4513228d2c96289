; An input of port K whose digital buffer is off reads 0, and another one is the choice of the environment.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 1 << ADC10D
        sts DIDR2, r16
        nop
        nop
        nop
        nop
        lds r18, PINK
        sbrc r18, PINK2
        rjmp high
        sbrs r18, PINK3
        rjmp end
        .global other
other:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
