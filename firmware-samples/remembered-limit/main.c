// What is remembered of a number is still true when it is asked.
#define IN_BETWEEN()
#include "../common/remembered-limit.h"
