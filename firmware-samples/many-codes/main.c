// The level is compared with the same number twice.
#include "../common/many-codes.h"
