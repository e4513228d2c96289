; Two functions share their end, as with -mcall-prologues: the jump goes into the middle of a function and is no call, and the RET
; is the return of all three.
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
        rcall second
stop:   rjmp stop
        end start
        function first
        push r28
        rjmp restore
        end first
        function second
        push r28
        rjmp restore
        end second
        function ends
        nop
restore: pop r28
        ret
        end ends
