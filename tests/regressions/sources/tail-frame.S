; `first` ends with a jump to `second`, whose RET is the return of both; where `second` is called it is its own alone. What `second`
; calls returns from neither. The handler jumps to `second_half`, whose RETI is its return.
#include "common.inc"
.macro function name
        .global \name
        .type \name, @function
\name:
.endm
.macro end name
        .size \name, . - \name
.endm
        vectors
        function start
        rcall first
        sbi PORTB, 0
        rcall second
        cbi PORTB, 0
        sbi EIMSK, INT0
        sei
loop:   rjmp loop
        end start
        function first
        rjmp second
        end first
        function second
        rcall inner
        cbi PORTC, 0
        ret
        end second
        function inner
        sbi PORTC, 0
        ret
        end inner
        function vector_1
        sbi PORTB, 1
        rjmp second_half
        end vector_1
        function second_half
        reti
        end second_half
