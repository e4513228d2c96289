; Where no pin was ever enabled the flag of the group stays 0.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 1 << PCIE0
        sts PCICR, r16
        sei
        ldi r17, 3
1:      sbic PCIFR, PCIF0
        rjmp flag
        dec r17
        brne 1b
        .global kept
kept:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
        handler 9, change
