/* The receiver that refuses a length that its buffer does not hold. */
#define CHECKED 1
#include "../common/message.h"
