/* Gathers 16 independent input bits into one number. */
#define BITS 16
#include "../common/input-bits.h"
