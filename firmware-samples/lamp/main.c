/* The lamp as it should be. */
#define BUGGY 0
#include "../common/lamp.h"
