; A second write to the EEPROM by OUT.
#include "common.inc"
        vectors
start:  clr r1
        ldi r20, 1 << EEMPE
        ldi r21, (1 << EEMPE) | (1 << EEPE)
        second_write
write:
        out EEDR, r16
        out EECR, r20
        out EECR, r21
        ret
