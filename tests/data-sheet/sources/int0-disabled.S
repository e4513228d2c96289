; An edge of an interrupt that is not enabled requests nothing.
#include "common.inc"
        vectors
        .global vector_1
vector_1:
        .global entered
entered:
        nop
        rjmp end
start:  ldi r16, 1 << ISC01
        sts EICRA, r16
        sei
1:      sbis EIFR, INTF0
        rjmp 1b
        nop
        .global flag
flag:
        nop
end:    rjmp end
