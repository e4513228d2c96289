// avr-gcc -Os makes the last call of `middle` and `outer` a jump: the RET of `danger` returns from all three.
#include <avr/io.h>
__attribute__((noinline)) void danger(void) { PORTB = 1; }
__attribute__((noinline)) void middle(void) { PORTC = 1; danger(); }
__attribute__((noinline)) void outer(void) { PORTD = 1; middle(); }
int main(void) {
    outer();
    PORTC = 2;
    danger();
    for (;;) {}
}
