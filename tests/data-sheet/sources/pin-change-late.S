; The change of a pin reaches the flag some cycles late, even after the pin was masked.
#include "common.inc"
        vectors
start:  clr r1
        ldi r16, 1 << PCINT0
        sts PCMSK0, r16
        nop
        sts PCMSK0, r1
        sbi PCIFR, PCIF0
        nop
        sbis PCIFR, PCIF0
        rjmp end
        .global late
late:
        nop
end:    rjmp end
