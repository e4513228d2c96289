; The registers of the selected endpoint read anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:
        sbis PINB, PINB0
        rjmp lower
        lds r18, UEINTX
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UENUM
        andi r18, 0x07
        cpi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, UERST
        andi r18, 0x7f
        cpi r18, 0x7f
        breq 1f
        rjmp end
1:
        lds r18, UECONX
        andi r18, 0x39
        cpi r18, 0x39
        breq 1f
        rjmp end
1:
        lds r18, UECFG0X
        andi r18, 0xc1
        cpi r18, 0xc1
        breq 1f
        rjmp end
1:
        lds r18, UECFG1X
        andi r18, 0x7e
        cpi r18, 0x7e
        breq 1f
        rjmp end
1:
        lds r18, UESTA0X
        andi r18, 0xef
        cpi r18, 0xef
        breq 1f
        rjmp end
1:
        rjmp ones
lower:
        lds r18, UEINTX
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, UENUM
        andi r18, 0x07
        breq 1f
        rjmp end
1:
        lds r18, UERST
        andi r18, 0x7f
        breq 1f
        rjmp end
1:
        lds r18, UECONX
        andi r18, 0x39
        breq 1f
        rjmp end
1:
        lds r18, UECFG0X
        andi r18, 0xc1
        breq 1f
        rjmp end
1:
        lds r18, UECFG1X
        andi r18, 0x7e
        breq 1f
        rjmp end
1:
        lds r18, UESTA0X
        andi r18, 0xef
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
