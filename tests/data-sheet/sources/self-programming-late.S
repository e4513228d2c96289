; Hardware clears SPMEN and the bit of the operation when no SPM follows within four cycles.
#include "common.inc"
        vectors
start:  ldi r16, (1 << BLBSET) | (1 << SPMEN)
        out SPMCSR, r16
        rcall wait
        brne still
        ldi r16, (1 << PGWRT) | (1 << SPMEN)
        out SPMCSR, r16
        rcall wait
        brne still
        ldi r16, (1 << PGERS) | (1 << SPMEN)
        out SPMCSR, r16
        rcall wait
        brne still
        ldi r16, (1 << RWWSRE) | (1 << SPMEN)
        out SPMCSR, r16
        rcall wait
        brne still
        .global cleared
cleared:
        nop
end:    rjmp end
        .global still
still:
        nop
        rjmp end
wait:   nop
        nop
        in r18, SPMCSR
        cpi r18, 0
        ret
