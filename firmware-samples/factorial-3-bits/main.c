/* The factorial of a number from 0 to 7. */
#define MASK 0x07
#include "../common/factorial.h"
