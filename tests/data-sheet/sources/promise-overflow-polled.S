; The overflow flag of a timer that runs is set, whatever mode counts to the maximum.
#include "common.inc"
        vectors
start:  ldi r16, (1 << WGM01) | (1 << WGM00)
        out TCCR0A, r16
        ldi r16, (1 << CS02) | (1 << CS00)
        out TCCR0B, r16
1:      sbis TIFR0, TOV0
        rjmp 1b
        .global done
done:   nop
end:    rjmp end
