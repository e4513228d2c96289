/* Nesting that ends: a handler disables its own source before it sets the I flag. */
#define BOUNDED 1
#include "../common/nested.h"
