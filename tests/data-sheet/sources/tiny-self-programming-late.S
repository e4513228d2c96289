; Hardware clears SPMEN and the bit of the operation when no SPM follows within four cycles.
; device: attiny85
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14
        vector vector_\number
        .endr
start:  ldi r16, (1 << CTPB) | (1 << SPMEN)
        out SPMCSR, r16
        rcall wait
        brne still
        ldi r16, (1 << RFLB) | (1 << SPMEN)
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
