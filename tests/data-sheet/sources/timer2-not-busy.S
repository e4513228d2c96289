; In synchronous operation no register of timer 2 is busy.
#include "common.inc"
        vectors
start:  ldi r16, 0x5a
        sts TCNT2, r16
        sts OCR2A, r16
        sts OCR2B, r16
        ldi r16, 1 << CS20
        sts TCCR2B, r16
        lds r18, ASSR
        cpi r18, 0
        brne busy
        .global ready
ready:
        nop
end:    rjmp end
        .global busy
busy:
        nop
        rjmp end
