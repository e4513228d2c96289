/* The index is always inside the table. */
#define MASK 3
#include "../common/function-table.h"
