; For a level interrupt the flag stays 0.
#include "common.inc"
        vectors
start:  ldi r19, 100
1:      sbic EIFR, INTF0
        rjmp flag
        dec r19
        brne 1b
        .global none
none:
        nop
end:    rjmp end
        .global flag
flag:
        nop
        rjmp end
