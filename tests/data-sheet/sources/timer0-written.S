; What is written to a stopped timer stays there.
#include "common.inc"
        vectors
start:  ldi r16, 0x5a
        out TCNT0, r16
        in r18, TCNT0
        in r19, TCNT0
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
