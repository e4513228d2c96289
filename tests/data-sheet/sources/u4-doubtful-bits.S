; Bits of which avr-libc and the data sheet do not say the same read anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r20, 0xff
        ldi r21, 0
        lds r18, 0x20 + EIFR
        mov r19, r18
        ori r19, 0x4f
        and r20, r19
        andi r18, 0xb0
        or r21, r18
        lds r18, 0x20 + EIMSK
        mov r19, r18
        ori r19, 0x4f
        and r20, r19
        andi r18, 0xb0
        or r21, r18
        lds r18, EICRB
        mov r19, r18
        ori r19, 0x30
        and r20, r19
        andi r18, 0xcf
        or r21, r18
        lds r18, 0x20 + GTCCR
        mov r19, r18
        ori r19, 0xfd
        and r20, r19
        andi r18, 0x02
        or r21, r18
        lds r18, PRR0
        mov r19, r18
        ori r19, 0xbd
        and r20, r19
        andi r18, 0x42
        or r21, r18
        lds r18, DIDR0
        mov r19, r18
        ori r19, 0xf3
        and r20, r19
        andi r18, 0x0c
        or r21, r18
        lds r18, DIDR1
        mov r19, r18
        ori r19, 0xfd
        and r20, r19
        andi r18, 0x02
        or r21, r18
        lds r18, 0x20 + MCUSR
        mov r19, r18
        ori r19, 0xdf
        and r20, r19
        andi r18, 0x20
        or r21, r18
        lds r18, 0x20 + RAMPZ
        mov r19, r18
        ori r19, 0xfc
        and r20, r19
        andi r18, 0x03
        or r21, r18
        lds r18, 0x20 + EIND
        mov r19, r18
        ori r19, 0xfe
        and r20, r19
        andi r18, 0x01
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
