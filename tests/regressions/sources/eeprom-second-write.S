; A second write to the EEPROM by SBI.
#include "common.inc"
        vectors
start:  clr r1
        second_write
write:
        out EEDR, r16
        sbi EECR, EEMPE
        sbi EECR, EEPE
        ret
