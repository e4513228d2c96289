; The reference and a driven pin leave nothing to the environment.
#include "common.inc"
        vectors
start:  ldi r16, 1 << DDD7
        out DDRD, r16
        sbi PORTD, PORTD7
        ldi r16, 1 << ACBG
        out ACSR, r16
        ldi r17, 250
1:      nop
        nop
        nop
        dec r17
        brne 1b
        in r18, ACSR
        sbrs r18, ACO
        rjmp end
        .global above
above:
        nop
end:    rjmp end
