; The value of the bit that switches JTAG off is left open, as its timed sequence is not followed.
; device: atmega1284p
#include "common.inc"
        vectors
start:  in r18, MCUCR
        sbrc r18, JTD
        rjmp disabled
        .global enabled
enabled:
        nop
end:    rjmp end
        .global disabled
disabled:
        nop
        rjmp end
