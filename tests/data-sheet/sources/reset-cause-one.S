; Writing ones sets no reset flag.
#include "common.inc"
        vectors
start:  clr r1
        out MCUSR, r1
        ldi r16, 0x0f
        out MCUSR, r16
        in r18, MCUSR
        cpi r18, 0
        brne set
        .global clear
clear:
        nop
end:    rjmp end
        .global set
set:
        nop
        rjmp end
