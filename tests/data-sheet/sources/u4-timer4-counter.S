; Its counter, its compare registers and the byte that they share read anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r20, 0xff
        ldi r21, 0
        ldi r16, 1
        ldi r17, 0x55
        sts TC4H, r16
        sts TCNT4L, r17
        sts TC4H, r16
        sts OCR4A, r17
        sts OCR4B, r17
        sts OCR4C, r17
        sts OCR4D, r17
        sts DT4, r17
        nop
        nop
        lds r18, TCNT4L
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, TC4H
        mov r19, r18
        ori r19, 0xf8
        and r20, r19
        andi r18, 0x07
        or r21, r18
        lds r18, OCR4A
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, OCR4B
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, OCR4C
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, OCR4D
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        lds r18, DT4
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
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
