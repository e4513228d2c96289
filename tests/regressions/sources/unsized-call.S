; Labels without a type and a size: whether the jump to `danger` is a call, nothing tells.
#define __SFR_OFFSET 0
#include <avr/io.h>
main:   rcall middle
loop:   rjmp loop
middle: sbi PORTB, 0
        rjmp danger
danger: ret
