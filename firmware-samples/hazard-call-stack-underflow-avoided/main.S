; A call before the return.
#include <avr/io.h>

        ldi r16, lo8(RAMEND - 16)
        out _SFR_IO_ADDR(SPL), r16
        rcall function
loop:   rjmp loop
function:
        ret
