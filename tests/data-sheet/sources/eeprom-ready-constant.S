; The interrupt comes again after each instruction.
#include "common.inc"
        vectors
        .global vector_22
vector_22:
        in r15, SREG
        inc r20
        out SREG, r15
        reti
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        clr r20
        sbi EECR, EERIE
        sei
        nop
        nop
        nop
        mov r21, r20
        cpi r21, 2
        brlo few
        .global many
many:
        nop
end:    rjmp end
        .global few
few:
        nop
        rjmp end
