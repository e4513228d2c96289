; A jump into erased flash.
#include <avr/io.h>

        .global fault
fault:  jmp 0x7000
