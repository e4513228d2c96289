; Without a conversion the result is zero while the converter is off.
#include "common.inc"
        vectors
start:  lds r18, ADCL
        lds r19, ADCH
        or r18, r19
        brne nonzero
        .global zero
zero:
        nop
end:    rjmp end
        .global nonzero
nonzero:
        nop
        rjmp end
