/* The echo whose receive handler writes one byte past the ring buffer. */
#define OFF_BY_ONE 1
#include "../common/usart-echo.h"
