; An input bit decides whether a pointer leaves the SRAM.
#include <avr/io.h>

        ldi r31, hi8(RAMEND)
        ldi r30, lo8(RAMEND)
        in r16, _SFR_IO_ADDR(PINB)
        andi r16, 1
        clr r17
        add r30, r16
        adc r31, r17
        st Z, r16
loop:   rjmp loop
