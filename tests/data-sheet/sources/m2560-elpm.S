; RAMPZ selects the page of 64 KiB that ELPM reads.
; device: atmega2560
; far: 0x3f000
#include "common.inc"
        vectors
start:  ldi r30, lo8(datum)
        ldi r31, hi8(datum)
        ldi r16, hh8(datum)
        out RAMPZ, r16
        elpm r18, Z
        cpi r18, 0xa5
        brne other
        ldi r16, 0
        out RAMPZ, r16
        elpm r18, Z
        cpi r18, 0xff
        brne other
        .global selected
selected:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .section .far, "ax", @progbits
datum:  .byte 0xa5, 0
