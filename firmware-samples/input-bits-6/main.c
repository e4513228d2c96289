/* Gathers 6 independent input bits into one number. */
#define BITS 6
#include "../common/input-bits.h"
