; A read of the EEPROM halts the processor for longer than the window of the clock prescaler is open.
#include "common.inc"
        vectors
start:  ldi r16, 1 << CLKPCE
        ldi r17, 5
2:      sbic EECR, EEPE
        rjmp 2b
        clr r1
        out EEARH, r1
        out EEARL, r1
        sts CLKPR, r16
        sbi EECR, EERE
        sts CLKPR, r17
        lds r18, CLKPR
        cpi r18, 5
        breq changed
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
