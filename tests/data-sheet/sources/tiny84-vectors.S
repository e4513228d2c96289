; What the environment requests has vectors of its own; the end of a conversion and the watchdog come by themselves.
; device: attiny84
#define __SFR_OFFSET 0
#include <avr/io.h>
        .macro vector name
        .weak \name
        rjmp \name
        .endm
        rjmp start
        .irp number, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
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
        .global pin_change_b
pin_change_b:
        nop
        rjmp end
        .global vector_4
vector_4:
        .global watchdog
watchdog:
        nop
        rjmp end
        .global vector_11
vector_11:
        .global overflow
overflow:
        nop
        rjmp end
        .global vector_12
vector_12:
        .global comparator
comparator:
        nop
        rjmp end
        .global vector_13
vector_13:
        .global converter
converter:
        nop
        rjmp end
        .global vector_15
vector_15:
        .global start_condition
start_condition:
        nop
        rjmp end
start:  ldi r16, (1 << INT0) | (1 << PCIE0) | (1 << PCIE1)
        out GIMSK, r16
        ldi r16, 1 << PCINT3
        out PCMSK0, r16
        ldi r16, 1 << PCINT9
        out PCMSK1, r16
        ldi r16, 1 << ACIE
        out ACSR, r16
        ldi r16, (1 << USISIE) | (1 << USIWM1)
        out USICR, r16
        ldi r16, 1 << WDIE
        out WDTCSR, r16
        ldi r16, (1 << ADEN) | (1 << ADSC) | (1 << ADIE)
        out ADCSRA, r16
        sei
end:    rjmp end
