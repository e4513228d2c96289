; A fault may come at any moment, requests while it is enabled, and its flag stays until a one is written.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  clr r1
1:      lds r17, TCCR4D
        sbrs r17, FPF4
        rjmp 1b
        .global fault
fault:  nop
        sts TCCR4D, r1
        lds r17, TCCR4D
        sbrs r17, FPF4
        rjmp lost
        ldi r16, 1 << FPIE4
        sts TCCR4D, r16
        sei
        nop
        nop
        .global rest
rest:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
        handler 42, protected
        handler 41, overflow
