; The result registers cannot be written.
#include "common.inc"
        vectors
start:  ldi r16, 0x5a
        sts ADCL, r16
        sts ADCH, r16
        lds r18, ADCL
        lds r19, ADCH
        or r18, r19
        brne written
        .global zero
zero:
        nop
end:    rjmp end
        .global written
written:
        nop
        rjmp end
