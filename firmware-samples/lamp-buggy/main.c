/* The lamp with the bugs of BUGS.md. */
#define BUGGY 1
#include "../common/lamp.h"
