/* The index can be past the end of the table: what lies there is called. */
#define MASK 7
#include "../common/function-table.h"
