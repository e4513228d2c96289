; The pin of a receiver and a transmitter that are off is the choice of the environment.
#include "common.inc"
        vectors
start:  in r18, PIND
        sbrs r18, PIND1
        rjmp end
        sbrc r18, PIND0
        rjmp end
        .global chosen
chosen:
        nop
end:    rjmp end
