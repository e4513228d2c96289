; An input bit decides which of the last two bytes of SRAM is written.
#include <avr/io.h>

        ldi r31, hi8(RAMEND - 1)
        ldi r30, lo8(RAMEND - 1)
        in r16, _SFR_IO_ADDR(PINB)
        andi r16, 1
        clr r17
        add r30, r16
        adc r31, r17
        st Z, r16
loop:   rjmp loop
