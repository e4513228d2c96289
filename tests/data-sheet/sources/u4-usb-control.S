; The enable bit of the transition of VBUS is 0 until it is set; the rest of its register reads anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r20, 0xff
        ldi r21, 0
        ldi r16, (1 << USBE) | (1 << OTGPADE)
        sts USBCON, r16
        lds r17, USBCON
        sbrc r17, VBUSTE
        rjmp enabled
        lds r18, USBCON
        mov r19, r18
        ori r19, 0x4f
        and r20, r19
        andi r18, 0xb0
        or r21, r18
        cpi r20, 0xff
        breq ones
        tst r21
        brne end
        .global zeros
zeros:
        nop
end:    rjmp end
        .global ones
ones:
        nop
        rjmp end
        .global enabled
enabled:
        nop
        rjmp end
