; The increment of ELPM goes on in RAMPZ.
; device: atmega1284p
#include "common.inc"
        vectors
start:  ldi r30, 0xff
        ldi r31, 0xff
        ldi r16, 0
        out RAMPZ, r16
        elpm r18, Z+
        elpm r18, Z
        cpi r18, 0xff
        brne first
        .global second
second:
        nop
end:    rjmp end
        .global first
first:
        nop
        rjmp end
