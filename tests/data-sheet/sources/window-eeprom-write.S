; The start of a write to the EEPROM halts the processor for two cycles, which count for the window of the clock prescaler.
#include "common.inc"
        vectors
start:  ldi r16, 1 << CLKPCE
        ldi r17, 5
        ldi r18, 6
        clr r1
2:      sbic EECR, EEPE
        rjmp 2b
        out EEARH, r1
        out EEARL, r1
        sbi EECR, EEMPE
        sts CLKPR, r16
        sts CLKPR, r17
        lds r20, CLKPR
        cpi r20, 5
        brne end
        .global in_time
in_time:
        nop
        sbi EECR, EEMPE
        sts CLKPR, r16
        sbi EECR, EEPE
        sts CLKPR, r18
        lds r20, CLKPR
        cpi r20, 6
        brne end
        .global late
late:
        nop
end:    rjmp end
