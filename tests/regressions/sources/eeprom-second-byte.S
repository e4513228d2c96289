; A second byte is written to the same cell by SBI, and nobody looks at EEPE between the two writes: the wait is for a timer.
#include "common.inc"
        vectors
start:  clr r1
        out EECR, r1
        out EEARH, r1
        out EEARL, r1
        ldi r18, 0x11
        out EEDR, r18
        sbi EECR, EEMPE
        sbi EECR, EEPE
        wait_timer
        ldi r18, 0x22
        out EEDR, r18
        sbi EECR, EEMPE
        sbi EECR, EEPE
busy:   sbic EECR, EEPE
        rjmp busy
        sbi EECR, EERE
        in r17, EEDR
        cpi r17, 0x22
        brne end
        .global reached
reached:
        nop
end:    rjmp end
