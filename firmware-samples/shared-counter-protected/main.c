/* The shared counter, read with interrupts disabled. */
#define PROTECTED 1
#include "../common/shared-counter.h"
