; A low level at the reset pin is a reset, unless its fuse makes it a port.
#include "common.inc"
        vectors
start:  sbic PINC, PINC6
        rjmp end
        .global low
low:
        nop
end:    rjmp end
