/* A philosopher who takes the fork to the left first. */
#define RIGHT_FIRST 0
#include "../common/philosopher.h"
