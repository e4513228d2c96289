; The levels of the pins that have no other function are the choice of the environment.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r20, 0xff
        ldi r21, 0
        in r18, PINB
        mov r19, r18
        ori r19, 0x0f
        and r20, r19
        andi r18, 0xf0
        or r21, r18
        in r18, PINC
        mov r19, r18
        ori r19, 0x3f
        and r20, r19
        andi r18, 0xc0
        or r21, r18
        in r18, PIND
        mov r19, r18
        ori r19, 0x0f
        and r20, r19
        andi r18, 0xf0
        or r21, r18
        in r18, PINE
        mov r19, r18
        ori r19, 0xbb
        and r20, r19
        andi r18, 0x44
        or r21, r18
        in r18, PINF
        mov r19, r18
        ori r19, 0xfc
        and r20, r19
        andi r18, 0x03
        or r21, r18
        cpi r20, 0xff
        breq high
        tst r21
        brne end
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
