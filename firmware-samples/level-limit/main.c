/* The function keeps to the limit that its contract promises. */
#define LIMIT 100
#include "../common/level-limit.h"
