; The enable bit of the transition of VBUS is 0 until it is set; the rest of its register reads anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:
        ldi r16, (1 << USBE) | (1 << OTGPADE)
        sts USBCON, r16
        lds r17, USBCON
        sbrc r17, VBUSTE
        rjmp enabled
        sbis PINB, PINB0
        rjmp lower
        lds r18, USBCON
        andi r18, 0xb0
        cpi r18, 0xb0
        breq 1f
        rjmp end
1:
        rjmp ones
lower:
        lds r18, USBCON
        andi r18, 0xb0
        breq 1f
        rjmp end
1:
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
