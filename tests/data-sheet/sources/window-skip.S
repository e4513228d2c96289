; Skips and branches take cycles of their own from a window.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 1
2:      sbic EECR, EEPE
        rjmp 2b
        out EEARH, r1
        out EEARL, r1
        ; Two cycles of a skip, and two of SBI: in time.
        sbi EECR, EEMPE
        sbrc r16, 0
        nop
        sbi EECR, EEPE
        sbis EECR, EEPE
        rjmp end
        .global in_time
in_time:
        nop
2:      sbic EECR, EEPE
        rjmp 2b
        ; Three cycles of a skip of two words, and two of SBI: too late.
        sbi EECR, EEMPE
        sbrs r16, 0
        jmp end
        nop
        sbi EECR, EEPE
        sbic EECR, EEPE
        rjmp late
end:    rjmp end
        .global late
late:
        nop
        rjmp end
