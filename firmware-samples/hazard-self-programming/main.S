; SPM outside the boot section.
#include <avr/io.h>

        spm
loop:   rjmp loop
