; A write that has just begun is still in progress.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        ldi r16, 5
        out EEARL, r16
        ldi r16, 0x5a
        out EEDR, r16
        ldi r16, 0
        out EECR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
        sbis EECR, EEPE
        rjmp ended
        .global busy
busy:
        nop
end:    rjmp end
        .global ended
ended:
        nop
        rjmp end
