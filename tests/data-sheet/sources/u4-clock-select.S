; The registers of the clock sources read anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r20, 0xff
        ldi r21, 0
        lds r18, CLKSEL0
        mov r19, r18
        ori r19, 0x02
        and r20, r19
        andi r18, 0xfd
        or r21, r18
        lds r18, CLKSEL1
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, CLKSTA
        mov r19, r18
        ori r19, 0xfc
        and r20, r19
        andi r18, 0x03
        or r21, r18
        lds r18, RCCTRL
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
