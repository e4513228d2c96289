/* The boot loader looks before it leaps. */
#define IS_APPLICATION_THERE() (pgm_read_word(0) != 0xffff)
#include "../common/boot-serial.h"
