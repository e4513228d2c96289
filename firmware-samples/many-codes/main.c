// The level stays as it is.
#define WHILE_WAITING PORTC = left
#include "../common/many-codes.h"
