; The register of the flow control reads back as written.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  ldi r16, (1 << CTSEN) | (1 << RTSEN)
        sts UCSR1D, r16
        lds r17, UCSR1D
        cp r16, r17
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
