; A function overwrites its return address.
#include <avr/io.h>

        rcall outer
loop:   rjmp loop

outer:  rcall function
        ret

function:
        pop r16
        pop r16
        ldi r16, pm_lo8(elsewhere)
        push r16
        ldi r16, pm_hi8(elsewhere)
        push r16
        .global fault
fault:  ret

elsewhere:
        rjmp elsewhere
