; Functions above 128 KiB are called by CALL, EICALL and RCALL and return: three bytes of the stack each.
; device: atmega2560
; far: 0x21000
#include "common.inc"
        vectors
start:  ldi r16, 1
        out EIND, r16
        ldi r30, lo8(pm(far))
        ldi r31, hi8(pm(far))
        eicall
        cpi r18, 0x11
        brne other
        call nested
behind: cpi r18, 0x22
        brne other
        .global returned
returned:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
        .section .far, "ax", @progbits
far:    ldi r18, 0x11
        ret
nested: rcall far
        in r28, 0x3d
        in r29, 0x3e
        ldd r19, Y + 1
        cpi r19, 0
        brne 1f
        ldd r19, Y + 3
        cpi r19, lo8(pm(behind))
        brne 1f
        ldi r18, 0x22
1:      ret
