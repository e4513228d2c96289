; A jump to the last instruction of the image.
#include <avr/io.h>

        jmp loop
        nop
loop:   rjmp loop
