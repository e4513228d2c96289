; The interrupt comes as long as SPMEN is 0.
#include "common.inc"
        vectors
        .global vector_25
vector_25:
        in r18, SPMCSR
        sbrc r18, SPMEN
        rjmp end
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, 1 << SPMIE
        out SPMCSR, r16
        sei
        nop
        nop
        .global passed
passed:
        nop
end:    rjmp end
