; The third byte of a return address is the highest one: a function above 128 KiB reads it at SP + 1.
; device: atmega2560
; far: 0x22222
#include "common.inc"
        vectors
start:  call far
        cpi r18, 0x01
        brne other
        cpi r19, 0x11
        brne other
        cpi r20, 0x12
        brne other
        .global read
read:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .section .far, "ax", @progbits
far:    rcall inner
        ret
inner:  in r28, 0x3d
        in r29, 0x3e
        ldd r18, Y + 1
        ldd r19, Y + 2
        ldd r20, Y + 3
        ret
