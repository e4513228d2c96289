; A skip passes both words of an instruction; the second one, executed, would be INC R0.
#include "common.inc"
        vectors
start:  clr r0
        ldi r16, 1
        sbrs r16, 0
        sts 0x9403, r16
        sbrc r16, 1
        sts 0x9403, r16
        tst r0
        brne wrong
        .global reached
reached:
        nop
end:    rjmp end
        .global wrong
wrong:  rjmp wrong
