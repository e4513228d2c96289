/* A received length overflows a buffer on the stack, up to the return address. */
#define LIMITED 0
#include "../common/stack-smash.h"
