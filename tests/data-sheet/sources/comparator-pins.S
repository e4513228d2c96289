; With both pins as inputs the output of the comparator is the choice of the environment.
#include "common.inc"
        vectors
start:  in r18, ACSR
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
