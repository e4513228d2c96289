; Without the bit that switches it on, the settings of the external memory are storage, and ports A and C are ports.
; device: atmega2560
#include "common.inc"
        vectors
start:  ldi r16, 0x7f
        sts XMCRA, r16
        lds r17, XMCRA
        cp r16, r17
        brne other
        ldi r16, 0x87
        sts XMCRB, r16
        lds r17, XMCRB
        cp r16, r17
        brne other
        sbis PINA, PINA0
        rjmp end
        .global kept
kept:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
