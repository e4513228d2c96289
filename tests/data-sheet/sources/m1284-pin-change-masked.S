; Where no pin of a group is enabled its flag stays 0.
; device: atmega1284p
#include "common.inc"
        vectors
start:  ldi r16, 1 << PCINT24
        sts PCMSK3, r16
1:      in r17, PCIFR
        andi r17, (1 << PCIF0) | (1 << PCIF1) | (1 << PCIF2)
        brne flag
        sbis PCIFR, PCIF3
        rjmp 1b
        .global enabled
enabled:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
