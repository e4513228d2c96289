; What the environment requests has vectors of its own; the end of a conversion and the watchdog come by themselves.
; device: attiny13
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9
        vector vector_\number
        .endr
        .global vector_1
vector_1:
        .global level
level:
        nop
        rjmp end
        .global vector_2
vector_2:
        .global pin_change
pin_change:
        nop
        rjmp end
        .global vector_3
vector_3:
        .global overflow
overflow:
        nop
        rjmp end
        .global vector_5
vector_5:
        .global comparator
comparator:
        nop
        rjmp end
        .global vector_8
vector_8:
        .global watchdog
watchdog:
        nop
        rjmp end
        .global vector_9
vector_9:
        .global converter
converter:
        nop
        rjmp end
start:  ldi r16, (1 << INT0) | (1 << PCIE)
        out GIMSK, r16
        ldi r16, 1 << PCINT3
        out PCMSK, r16
        ldi r16, 1 << ACIE
        out ACSR, r16
        ldi r16, 1 << WDTIE
        out WDTCR, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADIE)
        out ADCSRA, r16
        sei
end:    rjmp end
