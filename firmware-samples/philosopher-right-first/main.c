/* A philosopher who takes the fork to the right first. */
#define RIGHT_FIRST 1
#include "../common/philosopher.h"
