; Writing ones clears no reset flag.
#include "common.inc"
        vectors
start:  in r17, MCUSR
        out MCUSR, r17
        in r18, MCUSR
        cp r17, r18
        brne changed
        .global kept
kept:
        nop
end:    rjmp end
        .global changed
changed:
        nop
        rjmp end
