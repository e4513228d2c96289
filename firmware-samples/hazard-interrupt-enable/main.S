; The restricted device has no interrupts: SEI is a hazard there.
#include <avr/io.h>

        sei
loop:   rjmp loop
