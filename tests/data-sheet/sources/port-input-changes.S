; The level of an input can change at any time.
#include "common.inc"
        vectors
start:  sbis PINC, PINC2
        rjmp start
1:      sbic PINC, PINC2
        rjmp 1b
        .global fell
fell:
        nop
end:    rjmp end
