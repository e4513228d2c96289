; The state and the data of the selected endpoint read anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:
        sbis PINB, PINB0
        rjmp lower
        lds r18, UESTA1X
        andi r18, 0x07
        cpi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, UEIENX
        andi r18, 0xdf
        cpi r18, 0xdf
        breq 1f
        rjmp end
1:
        lds r18, UEDATX
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UEBCLX
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UEBCHX
        andi r18, 0x07
        cpi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, UEINT
        andi r18, 0x7f
        cpi r18, 0x7f
        breq 1f
        rjmp end
1:
        rjmp ones
lower:
        lds r18, UESTA1X
        andi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, UEIENX
        andi r18, 0xdf
        breq 1f
        rjmp end
1:
        lds r18, UEDATX
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UEBCLX
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UEBCHX
        andi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, UEINT
        andi r18, 0x7f
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
