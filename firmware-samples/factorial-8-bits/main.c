/* The factorial (modulo 256) of a number from 0 to 255. */
#define MASK 0xff
#include "../common/factorial.h"
