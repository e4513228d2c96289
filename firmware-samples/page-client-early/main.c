/* The client that acknowledges a page before it has the check byte. */
#define MORE 0
#define EARLY 1
#include "../common/page-client.h"
