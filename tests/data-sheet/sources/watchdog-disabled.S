; A watchdog whose interrupt is not enabled requests none.
#include "common.inc"
        vectors
        .global vector_6
vector_6:
        .global entered
entered:
        nop
        rjmp end
start:  sei
        nop
        .global running
running:
        nop
end:    rjmp end
