; The end of a write to the EEPROM does not wake the processor from power-down.
#include "common.inc"
        vectors
        .global vector_22
vector_22:
        reti
start:  clr r1
        clr r20
2:      sbic EECR, EEPE
        rjmp 2b
        out EEARH, r1
        out EEARL, r1
        out EECR, r1
        sbi EECR, EERIE
        sbi EECR, EEMPE
        sbi EECR, EEPE
        ldi r16, (1 << SM1) | (1 << SE)
        out SMCR, r16
        sei
        nop
        sleep
        nop
        .global woken
woken:
        nop
end:    rjmp end
