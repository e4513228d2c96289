; The levels of pins that no peripheral takes are the choice of the environment, also of the upper pins of ports D and E.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r20, 0xff
        ldi r21, 0
        in r18, PINB
        mov r19, r18
        ori r19, 0x0f
        and r20, r19
        andi r18, 0xf0
        or r21, r18
        in r18, PIND
        mov r19, r18
        ori r19, 0x0f
        and r20, r19
        andi r18, 0xf0
        or r21, r18
        in r18, PINE
        mov r19, r18
        ori r19, 0x0f
        and r20, r19
        andi r18, 0xf0
        or r21, r18
        in r18, PING
        mov r19, r18
        ori r19, 0xd8
        and r20, r19
        andi r18, 0x27
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
