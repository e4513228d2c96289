; The settings of the loop read back as written.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
start:  in r17, PLLFRQ
        cpi r17, 0x04
        brne other
        ldi r16, 0x6a
        out PLLFRQ, r16
        in r17, PLLFRQ
        cp r16, r17
        brne other
        ldi r16, (1 << PINDIV) | (1 << PLLE)
        out PLLCSR, r16
        in r17, PLLCSR
        andi r17, 0xfe
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
