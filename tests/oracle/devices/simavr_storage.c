/* Runs programs on a part in simavr and prints what is in r17 in the end, one a line in hexadecimal:
 *     STEPS WORD WORD ...
 * a line on standard input is a program that begins at address 0, with the number of its instructions; all in hexadecimal.
 */
#include <stdio.h>
#include <stdlib.h>
#include <simavr/sim_avr.h>

int main(int count, char **arguments)
{
    char *line = NULL;
    size_t size = 0;
    while (count == 2 && getline(&line, &size, stdin) > 0) {
        avr_t *avr = avr_make_mcu_by_name(arguments[1]);
        if (!avr)
            break;
        avr_init(avr);
        avr->frequency = 16000000;
        char *rest;
        unsigned long steps = strtoul(line, &rest, 16);
        for (unsigned address = 0; *rest && *rest != '\n'; address += 2) {
            unsigned long word = strtoul(rest, &rest, 16);
            avr->flash[address] = word & 0xff;
            avr->flash[address + 1] = word >> 8;
        }
        avr->codeend = avr->flashend;
        for (unsigned long step = 0; step < steps; step++)
            avr_run(avr);
        printf("%x\n", avr->data[17]);
        avr_terminate(avr);
    }
    if (!feof(stdin) || count != 2) {
        fprintf(stderr, "usage: simavr_storage PART-THAT-SIMAVR-KNOWS < programs\n");
        return 2;
    }
    return 0;
}
