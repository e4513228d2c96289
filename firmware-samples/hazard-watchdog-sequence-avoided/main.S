; WDCE first, then the new time within four cycles.
#include <avr/io.h>

        ldi r16, (1 << WDCE) | (1 << WDE)
        ldi r17, (1 << WDE) | (1 << WDP2)
        sts WDTCSR, r16
        sts WDTCSR, r17
loop:   wdr
        rjmp loop
