; While the prescaler is held in reset a timer that it clocks stands still.
#include "common.inc"
        vectors
start:  ldi r16, (1 << TSM) | (1 << PSRSYNC)
        out GTCCR, r16
        ldi r16, 1 << CS01
        out TCCR0B, r16
        ldi r17, 0x20
        out TCNT0, r17
        ldi r19, 100
1:      in r18, TCNT0
        cpi r18, 0x20
        brne moved
        dec r19
        brne 1b
        .global halted
halted:
        nop
end:    rjmp end
        .global moved
moved:
        nop
        rjmp end
