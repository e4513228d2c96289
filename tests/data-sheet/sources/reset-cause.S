; After a power-on its flag is set.
#include "common.inc"
        vectors
start:  in r18, MCUSR
        sbrs r18, PORF
        rjmp missing
        .global power_on
power_on:
        nop
end:    rjmp end
        .global missing
missing:
        nop
        rjmp end
