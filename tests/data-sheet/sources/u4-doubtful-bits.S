; Bits of which avr-libc and the data sheet do not say the same read anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:
        sbis PINB, PINB0
        rjmp lower
        lds r18, 0x20 + EIFR
        andi r18, 0xb0
        cpi r18, 0xb0
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + EIMSK
        andi r18, 0xb0
        cpi r18, 0xb0
        breq 1f
        rjmp end
1:
        lds r18, EICRB
        andi r18, 0xcf
        cpi r18, 0xcf
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + GTCCR
        andi r18, 0x02
        cpi r18, 0x02
        breq 1f
        rjmp end
1:
        lds r18, PRR0
        andi r18, 0x42
        cpi r18, 0x42
        breq 1f
        rjmp end
1:
        lds r18, DIDR0
        andi r18, 0x0c
        cpi r18, 0x0c
        breq 1f
        rjmp end
1:
        lds r18, DIDR1
        andi r18, 0x02
        cpi r18, 0x02
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + MCUSR
        andi r18, 0x20
        cpi r18, 0x20
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + RAMPZ
        andi r18, 0x03
        cpi r18, 0x03
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + EIND
        andi r18, 0x01
        cpi r18, 0x01
        breq 1f
        rjmp end
1:
        lds r18, PRR1
        andi r18, 0x10
        cpi r18, 0x10
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + EEARH
        andi r18, 0x0c
        cpi r18, 0x0c
        breq 1f
        rjmp end
1:
        rjmp ones
lower:
        lds r18, 0x20 + EIFR
        andi r18, 0xb0
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + EIMSK
        andi r18, 0xb0
        breq 1f
        rjmp end
1:
        lds r18, EICRB
        andi r18, 0xcf
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + GTCCR
        andi r18, 0x02
        breq 1f
        rjmp end
1:
        lds r18, PRR0
        andi r18, 0x42
        breq 1f
        rjmp end
1:
        lds r18, DIDR0
        andi r18, 0x0c
        breq 1f
        rjmp end
1:
        lds r18, DIDR1
        andi r18, 0x02
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + MCUSR
        andi r18, 0x20
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + RAMPZ
        andi r18, 0x03
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + EIND
        andi r18, 0x01
        breq 1f
        rjmp end
1:
        lds r18, PRR1
        andi r18, 0x10
        breq 1f
        rjmp end
1:
        lds r18, 0x20 + EEARH
        andi r18, 0x0c
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
