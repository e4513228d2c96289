; Leaves the image sooner or later in every run.
#include "common.inc"
        vectors
start:  ldi r20, 5
loop:   out PORTB, r20
        dec r20
        brne loop
        jmp 0x2000
