; Ports with extended addresses: levels are the choice of the environment, and ones written to PINx toggle PORTx.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 0x55
        ldi r17, 0x0f
        sts PORTH, r16
        sts PINH, r17
        lds r18, PORTH
        cpi r18, 0x5a
        brne other
        sts PORTJ, r16
        sts PINJ, r17
        lds r18, PORTJ
        cpi r18, 0x5a
        brne other
        sts PORTK, r16
        sts PINK, r17
        lds r18, PORTK
        cpi r18, 0x5a
        brne other
        sts PORTL, r16
        sts PINL, r17
        lds r18, PORTL
        cpi r18, 0x5a
        brne other
        ldi r20, 0xff
        ldi r21, 0
        lds r18, PINH
        mov r19, r18
        ori r19, 0x7b
        and r20, r19
        andi r18, 0x84
        or r21, r18
        lds r18, PINJ
        mov r19, r18
        ori r19, 0x7b
        and r20, r19
        andi r18, 0x84
        or r21, r18
        lds r18, PINK
        mov r19, r18
        ori r19, 0x7e
        and r20, r19
        andi r18, 0x81
        or r21, r18
        lds r18, PINL
        mov r19, r18
        ori r19, 0x7e
        and r20, r19
        andi r18, 0x81
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
        .global other
other:
        nop
        rjmp end
