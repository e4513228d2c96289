; SBI on the flag register clears only the flag that it names.
#include "common.inc"
        vectors
start:  ldi r16, (1 << ISC11) | (1 << ISC01)
        sts EICRA, r16
1:      sbis EIFR, INTF0
        rjmp 1b
2:      sbis EIFR, INTF1
        rjmp 2b
        sbi EIFR, INTF0
        sbis EIFR, INTF1
        rjmp lost
        .global kept
kept:
        nop
end:    rjmp end
        .global lost
lost:
        nop
        rjmp end
