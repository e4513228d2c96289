; What the environment requests has vectors of its own. A pin chooses whether the empty transmitter requests.
; device: atmega1284p
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        jmp \name
        .endm
        jmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34
        vector vector_\number
        .endr
        .global vector_1
vector_1:
        .global int0
int0:
        nop
        rjmp end
        .global vector_3
vector_3:
        .global int2
int2:
        nop
        rjmp end
        .global vector_4
vector_4:
        .global change_a
change_a:
        nop
        rjmp end
        .global vector_5
vector_5:
        .global change_b
change_b:
        nop
        rjmp end
        .global vector_6
vector_6:
        .global change_c
change_c:
        nop
        rjmp end
        .global vector_7
vector_7:
        .global change_d
change_d:
        nop
        rjmp end
        .global vector_20
vector_20:
        .global received0
received0:
        nop
        rjmp end
        .global vector_28
vector_28:
        .global received1
received1:
        nop
        rjmp end
        .global vector_29
vector_29:
        .global empty1
empty1:
        nop
        rjmp end
        .global vector_30
vector_30:
        .global sent1
sent1:
        nop
        rjmp end
start:  ldi r16, 1 << INT2
        out EIMSK, r16
        ldi r16, 1
        sts PCMSK0, r16
        sts PCMSK1, r16
        sts PCMSK2, r16
        sts PCMSK3, r16
        ldi r16, (1 << PCIE0) | (1 << PCIE1) | (1 << PCIE2) | (1 << PCIE3)
        sts PCICR, r16
        in r16, PINA
        andi r16, 1 << UDRIE1
        ori r16, (1 << RXEN1) | (1 << RXCIE1)
        sts UCSR1B, r16
        sei
end:    rjmp end
