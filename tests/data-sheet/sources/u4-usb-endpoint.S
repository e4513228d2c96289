; The interrupt of endpoints may come once one of its enable bits was set for some endpoint.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
        handler 10, general
        handler 11, endpoint
start:  ldi r16, 1 << USBE
        sts USBCON, r16
        ldi r16, 1 << RXSTPE
        sts UEIENX, r16
        ldi r16, 1
        sts UENUM, r16
        ldi r16, 0
        sts UEIENX, r16
        sei
        nop
        .global rest
rest:
        nop
end:    rjmp end
