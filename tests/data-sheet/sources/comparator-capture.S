; The comparator can trigger the capture of timer 1.
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDB0
        out DDRB, r16
        ldi r16, 1 << ACIC
        out ACSR, r16
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        nop
        sbi TIFR1, ICF1
1:      sbis TIFR1, ICF1
        rjmp 1b
        .global captured
captured:
        nop
end:    rjmp end
