; The entry into a handler takes four cycles, after which the window of the clock prescaler is closed. The handler is at the vector itself.
#include "common.inc"
        jmp start
        sts CLKPR, r17
        lds r18, CLKPR
        cpi r18, 5
        breq changed
        reti
start:  ldi r16, 1 << CLKPCE
        ldi r17, 5
        ldi r20, 1 << INT0
        ldi r21, 1 << ISC01
        sts EICRA, r21
        out EIMSK, r20
        sei
        nop
        sts CLKPR, r16
        nop
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
