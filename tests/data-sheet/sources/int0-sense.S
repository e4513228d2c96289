; The sense control and the mask read back as written.
#include "common.inc"
        vectors
start:  ldi r16, (1 << ISC11) | (1 << ISC00)
        sts EICRA, r16
        ldi r17, 1 << INT1
        out EIMSK, r17
        lds r18, EICRA
        in r19, EIMSK
        cp r18, r16
        brne other
        cp r19, r17
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
