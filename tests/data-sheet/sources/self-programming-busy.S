; Only hardware sets RWWSB.
#include "common.inc"
        vectors
start:  ldi r16, 1 << RWWSB
        out SPMCSR, r16
        in r18, SPMCSR
        sbrc r18, RWWSB
        rjmp busy
        .global free
free:
        nop
end:    rjmp end
        .global busy
busy:
        nop
        rjmp end
