/* Nesting without end: a handler sets the I flag while its own source is enabled. */
#define BOUNDED 0
#include "../common/nested.h"
