; What the environment requests has vectors of its own. A pin chooses whether empty transmitters request.
; device: atmega2560
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        jmp \name
        .endm
        jmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56
        vector vector_\number
        .endr
        .global vector_1
vector_1:
        .global int0
int0:
        nop
        rjmp end
        .global vector_2
vector_2:
        .global int1
int1:
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
        .global int3
int3:
        nop
        rjmp end
        .global vector_5
vector_5:
        .global int4
int4:
        nop
        rjmp end
        .global vector_6
vector_6:
        .global int5
int5:
        nop
        rjmp end
        .global vector_7
vector_7:
        .global int6
int6:
        nop
        rjmp end
        .global vector_8
vector_8:
        .global int7
int7:
        nop
        rjmp end
        .global vector_9
vector_9:
        .global change_0
change_0:
        nop
        rjmp end
        .global vector_10
vector_10:
        .global change_1
change_1:
        nop
        rjmp end
        .global vector_11
vector_11:
        .global change_2
change_2:
        nop
        rjmp end
        .global vector_25
vector_25:
        .global received0
received0:
        nop
        rjmp end
        .global vector_36
vector_36:
        .global received1
received1:
        nop
        rjmp end
        .global vector_37
vector_37:
        .global empty1
empty1:
        nop
        rjmp end
        .global vector_38
vector_38:
        .global sent1
sent1:
        nop
        rjmp end
        .global vector_51
vector_51:
        .global received2
received2:
        nop
        rjmp end
        .global vector_52
vector_52:
        .global empty2
empty2:
        nop
        rjmp end
        .global vector_53
vector_53:
        .global sent2
sent2:
        nop
        rjmp end
        .global vector_54
vector_54:
        .global received3
received3:
        nop
        rjmp end
        .global vector_55
vector_55:
        .global empty3
empty3:
        nop
        rjmp end
        .global vector_56
vector_56:
        .global sent3
sent3:
        nop
        rjmp end
start:  ldi r16, 0xfe
        out EIMSK, r16
        ldi r16, 1
        sts PCMSK0, r16
        sts PCMSK1, r16
        sts PCMSK2, r16
        ldi r16, (1 << PCIE0) | (1 << PCIE1) | (1 << PCIE2)
        sts PCICR, r16
        in r16, PINA
        andi r16, 1 << UDRIE1
        ori r16, (1 << RXEN1) | (1 << RXCIE1)
        sts UCSR1B, r16
        sts UCSR2B, r16
        sts UCSR3B, r16
        sei
end:    rjmp end
