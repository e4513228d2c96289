; No reset by JTAG comes before the first one.
; device: atmega1284p
#include "common.inc"
        vectors
start:  in r18, MCUSR
        sbrc r18, JTRF
        rjmp set
        .global clear
clear:
        nop
end:    rjmp end
        .global set
set:
        nop
        rjmp end
