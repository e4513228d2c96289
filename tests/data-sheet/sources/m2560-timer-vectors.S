; Compare matches of the timers of 16 bits have vectors of their own. Pins choose one timer and which are enabled; overflows and captures are not.
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
        .global vector_19
vector_19:
        .global timer1_c
timer1_c:
        nop
        rjmp end
        .global vector_31
vector_31:
        .global capture3
capture3:
        nop
        rjmp end
        .global vector_32
vector_32:
        .global timer3_a
timer3_a:
        nop
        rjmp end
        .global vector_33
vector_33:
        .global timer3_b
timer3_b:
        nop
        rjmp end
        .global vector_34
vector_34:
        .global timer3_c
timer3_c:
        nop
        rjmp end
        .global vector_35
vector_35:
        .global overflow3
overflow3:
        nop
        rjmp end
        .global vector_41
vector_41:
        .global capture4
capture4:
        nop
        rjmp end
        .global vector_42
vector_42:
        .global timer4_a
timer4_a:
        nop
        rjmp end
        .global vector_43
vector_43:
        .global timer4_b
timer4_b:
        nop
        rjmp end
        .global vector_44
vector_44:
        .global timer4_c
timer4_c:
        nop
        rjmp end
        .global vector_45
vector_45:
        .global overflow4
overflow4:
        nop
        rjmp end
        .global vector_46
vector_46:
        .global capture5
capture5:
        nop
        rjmp end
        .global vector_47
vector_47:
        .global timer5_a
timer5_a:
        nop
        rjmp end
        .global vector_48
vector_48:
        .global timer5_b
timer5_b:
        nop
        rjmp end
        .global vector_49
vector_49:
        .global timer5_c
timer5_c:
        nop
        rjmp end
        .global vector_50
vector_50:
        .global overflow5
overflow5:
        nop
        rjmp end
start:  ldi r18, 1
        in r16, PINA
        andi r16, (1 << OCIE3C) | (1 << OCIE3B) | (1 << OCIE3A)
        in r17, PINC
        sbrs r17, 1
        rjmp 1f
        sbrc r17, 0
        sts TIMSK5, r16
        sbrs r17, 0
        sts TIMSK4, r16
        sts TCCR4B, r18
        sts TCCR5B, r18
        sei
        rjmp end
1:      sbrc r17, 0
        sts TIMSK3, r16
        sts TCCR3B, r18
        andi r16, 1 << OCIE1C
        sbrs r17, 0
        sts TIMSK1, r16
        sts TCCR1B, r18
        sei
end:    rjmp end
