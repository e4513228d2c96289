; SLEEP with interrupts disabled: nothing can wake the processor.
#include <avr/io.h>

        ldi r16, 1 << SE
        out _SFR_IO_ADDR(SMCR), r16
        cli
        sleep
loop:   rjmp loop
