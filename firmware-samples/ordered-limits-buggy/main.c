// What is added to the least limit may bring it above the other one again.
#define EXTRA 2
#include "../common/ordered-limits.h"
