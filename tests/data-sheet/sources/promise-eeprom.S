; A write of the EEPROM ends, as does one that was under way at the reset.
#include "common.inc"
        vectors
start:  clr r1
1:      sbic EECR, EEPE
        rjmp 1b
        out EEARH, r1
        out EEARL, r1
        out EEDR, r1
        sbi EECR, EEMPE
        sbi EECR, EEPE
2:      sbic EECR, EEPE
        rjmp 2b
        .global done
done:   nop
end:    rjmp end
