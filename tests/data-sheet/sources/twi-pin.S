; The two-wire bus has the pins of the interface while it is on.
#include "common.inc"
        vectors
start:  ldi r16, 1 << TWEN
        sts TWCR, r16
        nop
        nop
        nop
        sbic PINC, PINC4
        rjmp end
        .global low
low:
        nop
end:    rjmp end
