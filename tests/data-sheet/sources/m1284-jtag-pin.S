; The pin belongs to JTAG as the part leaves the factory.
; device: atmega1284p
#include "common.inc"
        vectors
start:  nop
        nop
        sbis PINC, PINC3
        rjmp low
        .global high
high:
        nop
end:    rjmp end
        .global low
low:
        nop
        rjmp end
