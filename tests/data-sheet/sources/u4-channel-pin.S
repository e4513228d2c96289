; A pin whose digital buffer DIDR2 or DIDR1 switches off reads anything.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r20, 0xff
        ldi r21, 0
        ldi r16, 0x3f
        sts DIDR2, r16
        ldi r16, 1 << AIN0D
        sts DIDR1, r16
        nop
        nop
        in r18, PINB
        mov r19, r18
        ori r19, 0x8f
        and r20, r19
        andi r18, 0x70
        or r21, r18
        in r18, PIND
        mov r19, r18
        ori r19, 0x2f
        and r20, r19
        andi r18, 0xd0
        or r21, r18
        in r18, PINE
        mov r19, r18
        ori r19, 0xbf
        and r20, r19
        andi r18, 0x40
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
