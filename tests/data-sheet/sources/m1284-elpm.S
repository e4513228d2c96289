; The register RAMPZ selects the half of the flash that ELPM reads.
; device: atmega1284p
#include "common.inc"
        vectors
datum:  .byte 0x5a, 0
start:  ldi r30, lo8(datum)
        ldi r31, hi8(datum)
        ldi r16, 1
        out RAMPZ, r16
        elpm r18, Z
        cpi r18, 0xff
        brne other
        ldi r16, 0
        out RAMPZ, r16
        elpm r18, Z+
        cpi r18, 0x5a
        brne other
        .global selected
selected:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
