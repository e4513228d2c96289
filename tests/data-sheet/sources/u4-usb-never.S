; Without an enable bit no USB interrupt comes.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
        handler 10, general
        handler 11, endpoint
start:  ldi r16, (1 << USBE) | (1 << OTGPADE)
        sts USBCON, r16
        ldi r16, 0
        sts UDIEN, r16
        sts UEIENX, r16
        sts UDCON, r16
        sei
        nop
        nop
        .global rest
rest:
        nop
end:    rjmp end
