/* The function may return one more than its contract promises. */
#define LIMIT 101
#include "../common/level-limit.h"
