; An input of the comparator whose digital buffer is off reads 0, and the other one is the choice of the environment.
#include "common.inc"
        vectors
start:  ldi r16, 1 << AIN0D
        sts DIDR1, r16
        nop
        nop
        nop
        nop
        sbic PIND, PIND6
        rjmp high
        sbis PIND, PIND7
        rjmp end
        .global other
other:
        nop
end:    rjmp end
        .global high
high:
        nop
        rjmp end
