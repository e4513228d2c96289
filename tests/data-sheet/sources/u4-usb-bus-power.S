; The transition of VBUS requests the general interrupt as well.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
        handler 10, general
        handler 11, endpoint
start:  ldi r16, (1 << OTGPADE) | (1 << VBUSTE)
        sts USBCON, r16
        sei
        nop
        .global rest
rest:
        nop
end:    rjmp end
