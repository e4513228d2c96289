// The level may come to the alarm.
#define WHILE_WAITING level++
#include "../common/many-codes.h"
