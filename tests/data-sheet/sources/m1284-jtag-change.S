; The change of a pin that belongs to JTAG is not that of an input of the program.
; device: atmega1284p
#include "common.inc"
        vectors
start:  ldi r16, 1 << PCINT19
        sts PCMSK2, r16
1:      sbis PCIFR, PCIF2
        rjmp 1b
        .global changed
changed:
        nop
end:    rjmp end
