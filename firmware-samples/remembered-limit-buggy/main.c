// In the loop the inlet cools down, so what is remembered of it may be false when it is asked.
#define IN_BETWEEN() (inlet -= 7)
#include "../common/remembered-limit.h"
