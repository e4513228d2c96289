; Where no pin of a group is enabled its flag stays 0.
#include "common.inc"
        vectors
start:  ldi r16, 1 << PCINT0
        sts PCMSK0, r16
1:      sbic PCIFR, PCIF1
        rjmp flag
        sbic PCIFR, PCIF2
        rjmp flag
        sbis PCIFR, PCIF0
        rjmp 1b
        .global enabled
enabled:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
