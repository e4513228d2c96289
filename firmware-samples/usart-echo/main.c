/* The echo with a correct ring buffer. */
#define OFF_BY_ONE 0
#include "../common/usart-echo.h"
