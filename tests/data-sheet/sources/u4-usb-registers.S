; The registers of the USB controller read anything; the bit that lets the host reset the processor is 0 until it is set.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:
        lds r16, UDCON
        sbrc r16, RSTCPU
        rjmp reset
        ldi r16, 0
        sts UDCON, r16
        lds r16, UDCON
        sbrc r16, RSTCPU
        rjmp reset
        sbis PINB, PINB0
        rjmp lower
        lds r18, UHWCON
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, USBSTA
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, USBINT
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UDINT
        andi r18, 0x7d
        cpi r18, 0x7d
        breq 1f
        rjmp end
1:
        lds r18, UDIEN
        andi r18, 0x7d
        cpi r18, 0x7d
        breq 1f
        rjmp end
1:
        lds r18, UDADDR
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UDFNUML
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UDFNUMH
        andi r18, 0x07
        cpi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, UDMFN
        andi r18, 0x10
        cpi r18, 0x10
        breq 1f
        rjmp end
1:
        rjmp ones
lower:
        lds r18, UHWCON
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, USBSTA
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, USBINT
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UDINT
        andi r18, 0x7d
        breq 1f
        rjmp end
1:
        lds r18, UDIEN
        andi r18, 0x7d
        breq 1f
        rjmp end
1:
        lds r18, UDADDR
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UDFNUML
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UDFNUMH
        andi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, UDMFN
        andi r18, 0x10
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
        .global reset
reset:
        nop
        rjmp end
