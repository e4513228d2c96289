; The reference is compared with a pin that the environment drives.
#include "common.inc"
        vectors
start:  ldi r16, 1 << ACBG
        out ACSR, r16
        ldi r17, 250
1:      nop
        nop
        nop
        dec r17
        brne 1b
        in r18, ACSR
        sbrc r18, ACO
        rjmp high
        .global low
low:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
