; Ways into a function without a call: a branch, a skip, a fall-through and an indirect jump. Each function has a size.
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
        rcall branches
        rcall skips
        rcall falls
        ldi r30, lo8(gs(indirect))
        ldi r31, hi8(gs(indirect))
        rcall points
        ; Jumps inside of one function, to its entry as well.
        ldi r16, 3
        rcall loops
stop:   rjmp stop
        end start
        function branches
        cp r1, r1
        breq branched
        ret
        end branches
        function skips
        sbis GPIOR0, 0
        nop
        end skips
        function skipped
        ret
        end skipped
        function falls
        nop
        end falls
        function fallen
        ret
        end fallen
        function branched
        ret
        end branched
        function points
        ijmp
        end points
        function indirect
        ret
        end indirect
        function loops
        dec r16
        brne loops
        ret
        end loops
        function unused
        ret
        end unused
