// The number may change between the two comparisons.
#define IN_BETWEEN() \
    if (PINC == 1) { \
        number++;    \
    }
#include "../common/word-twice.h"
