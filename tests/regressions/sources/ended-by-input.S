; Leaves the image where a pin is 1, after an output that nothing else comes to.
#include "common.inc"
        vectors
start:  ldi r16, 0xff
        out DDRB, r16
loop:   ldi r16, 1
        out PORTB, r16
        sbic PIND, 0
        rjmp leave
        ldi r16, 2
        out PORTB, r16
        rjmp loop
leave:  sbis PIND, 1
        rjmp doomed
        ldi r16, 3
        out PORTB, r16
        sbis PIND, 2
        rjmp loop
doomed: ldi r16, 4
        out PORTB, r16
        jmp 0x2000
