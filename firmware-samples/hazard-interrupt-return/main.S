; The restricted device has no interrupts: RETI is a hazard there.
#include <avr/io.h>

        rcall function
loop:   rjmp loop
function:
        reti
