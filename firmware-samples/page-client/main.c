/* The client that loads pages. */
#define MORE 0
#define EARLY 0
#include "../common/page-client.h"
