// The least of two limits becomes the lower one.
#define EXTRA 0
#include "../common/ordered-limits.h"
