; After the return address was dropped something else is called and returns.
#include "common.inc"
        vectors
start:  rcall outer
        .global reached
reached:
        rjmp reached
outer:  rcall inner
        rjmp start
inner:  in r28, SPL
        adiw r28, 2
        out SPL, r28
        rcall leaf
        rcall leaf
        ret
leaf:   ret
