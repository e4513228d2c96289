/* The client that takes a byte more than the length of a page tells. */
#define MORE 1
#define EARLY 0
#include "../common/page-client.h"
