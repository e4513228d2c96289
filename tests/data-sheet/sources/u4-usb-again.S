; The general interrupt may come again and again, and after its enable bits were cleared.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, 1 << USBE
        sts USBCON, r16
        ldi r16, 1 << SOFE
        sts UDIEN, r16
        clr r20
        sei
        nop
        nop
        nop
        cli
        cpi r20, 2
        brsh twice
        clr r20
        sts UDIEN, r20
        sei
        nop
        nop
        cli
        tst r20
        brne late
        .global rest
rest:
        nop
end:    rjmp end
        .global twice
twice:
        nop
        rjmp end
        .global late
late:
        nop
        rjmp end
        .global vector_10
vector_10:
        inc r20
        reti
