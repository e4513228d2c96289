; SLEEP with external interrupt 0 enabled.
#include <avr/io.h>

        rjmp start
        .word 0
        rjmp handler
handler:
        reti
start:  ldi r16, 1 << INT0
        out _SFR_IO_ADDR(EIMSK), r16
        ldi r16, 1 << SE
        out _SFR_IO_ADDR(SMCR), r16
loop:   sei
        sleep
        rjmp loop
