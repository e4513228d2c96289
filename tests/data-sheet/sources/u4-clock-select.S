; The registers of the clock sources read anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:
        sbis PINB, PINB0
        rjmp lower
        lds r18, CLKSEL0
        andi r18, 0xfd
        cpi r18, 0xfd
        breq 1f
        rjmp end
1:
        lds r18, CLKSEL1
        andi r18, 0xff
        cpi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, CLKSTA
        andi r18, 0x03
        cpi r18, 0x03
        breq 1f
        rjmp end
1:
        lds r18, RCCTRL
        andi r18, 0x01
        cpi r18, 0x01
        breq 1f
        rjmp end
1:
        rjmp ones
lower:
        lds r18, CLKSEL0
        andi r18, 0xfd
        breq 1f
        rjmp end
1:
        lds r18, CLKSEL1
        andi r18, 0xff
        breq 1f
        rjmp end
1:
        lds r18, CLKSTA
        andi r18, 0x03
        breq 1f
        rjmp end
1:
        lds r18, RCCTRL
        andi r18, 0x01
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
