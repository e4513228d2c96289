/* Prints the interrupt vectors that simavr knows of a part, one a line:
 *     vector NUMBER ENABLE-ADDRESS ENABLE-BIT FLAG-ADDRESS FLAG-BIT STICKY
 * in hexadecimal, data addresses, and 0 0 for a flag that does not exist.
 */
#include <stdio.h>
#include <simavr/sim_avr.h>
#include <simavr/sim_interrupts.h>

int main(int count, char **arguments)
{
    avr_t *avr = count == 2 ? avr_make_mcu_by_name(arguments[1]) : NULL;
    if (!avr) {
        fprintf(stderr, "usage: simavr_vectors PART-THAT-SIMAVR-KNOWS\n");
        return 2;
    }
    avr_init(avr);
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        avr_int_vector_t *vector = avr->interrupts.vector[i];
        printf("vector %x %x %x %x %x %x\n", vector->vector, vector->enable.reg, vector->enable.bit,
               vector->raised.reg, vector->raised.bit, vector->raise_sticky);
    }
    return 0;
}
