; A second write to the EEPROM by STS.
#include "common.inc"
        vectors
start:  clr r1
        ldi r20, 1 << EEMPE
        ldi r21, (1 << EEMPE) | (1 << EEPE)
        second_write
write:
        sts EEDR + 0x20, r16
        sts EECR + 0x20, r20
        sts EECR + 0x20, r21
        ret
