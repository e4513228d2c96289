/* The same with the length limited to the size of the buffer. */
#define LIMITED 1
#include "../common/stack-smash.h"
