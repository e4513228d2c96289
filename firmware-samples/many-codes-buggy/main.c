// The second comparison takes more levels for the alarm.
#define IS_ALARM (level >= ALARM)
#include "../common/many-codes.h"
