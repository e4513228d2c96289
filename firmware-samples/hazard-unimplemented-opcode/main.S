; EICALL exists on larger AVRs only.
#include <avr/io.h>

        .word 0x9519
loop:   rjmp loop
