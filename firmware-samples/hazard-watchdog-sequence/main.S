; The watchdog is switched to another time without WDCE first.
#include <avr/io.h>

        ldi r16, (1 << WDE) | (1 << WDP2)
        sts WDTCSR, r16
loop:   wdr
        rjmp loop
