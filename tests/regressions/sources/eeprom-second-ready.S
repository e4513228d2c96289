; The interrupt EE_READY after a second byte was written by SBI, while nobody looked at EEPE between the two writes.
#include "common.inc"
        vectors
        .global vector_22
vector_22:
        sbi EECR, EERE
        in r17, EEDR
        cbi EECR, EERIE
        cpi r17, 0x22
        brne end
        .global reached
reached:
        nop
end:    rjmp end
start:  clr r1
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
        sbi EECR, EERIE
        sei
1:      rjmp 1b
