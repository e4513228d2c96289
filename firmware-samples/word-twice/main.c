// The second comparison always has the outcome of the first one.
#define IN_BETWEEN()
#include "../common/word-twice.h"
