/* The calibration that forgets its result: port D keeps the last trial value. */
#define WRITE_RESULT 0
#define COMPLICATED 0
#include "../common/calibration.h"
