; Without SE the instruction SLEEP does nothing.
#include "common.inc"
        vectors
start:  ldi r16, 1 << SM1
        out SMCR, r16
        sleep
        nop
        .global passed
passed:
        nop
end:    rjmp end
