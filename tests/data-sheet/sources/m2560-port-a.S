; The levels of the pins of ports A and C are the choice of the environment.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r20, 0xff
        ldi r21, 0
        in r18, PINA
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
        or r21, r18
        in r18, PINC
        mov r19, r18
        ori r19, 0x00
        and r20, r19
        andi r18, 0xff
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
