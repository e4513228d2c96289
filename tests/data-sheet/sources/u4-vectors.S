; What the environment requests has vectors of its own. A pin chooses whether the empty transmitter requests.
; device: atmega32u4
#include "u4.inc"
        u4_vectors
        handler 1, int0
        handler 2, int1
        handler 3, int2
        handler 4, int3
        handler 5, reserved_5
        handler 6, reserved_6
        handler 7, int6
        handler 8, reserved_8
        handler 9, change_0
        handler 13, reserved_13
        handler 25, received1
        handler 26, empty1
        handler 27, sent1
start:  ldi r16, 0xfe
        out EIMSK, r16
        ldi r16, 1
        sts PCMSK0, r16
        sts PCICR, r16
        in r16, PINB
        andi r16, 1 << UDRIE1
        ori r16, (1 << RXEN1) | (1 << RXCIE1)
        sts UCSR1B, r16
        sei
end:    rjmp end
