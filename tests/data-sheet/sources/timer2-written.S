; What is written to a stopped timer stays there.
#include "common.inc"
        vectors
start:  ldi r16, 0x5a
        sts TCNT2, r16
        lds r18, TCNT2
        lds r19, TCNT2
        cp r18, r16
        brne other
        cp r19, r16
        brne other
        .global same
same:
        nop
end:    rjmp end
        .global other
other:
        nop
        rjmp end
