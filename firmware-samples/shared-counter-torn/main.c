/* The shared counter, read with interrupts enabled: the handler can run between the two loads. */
#define PROTECTED 0
#include "../common/shared-counter.h"
