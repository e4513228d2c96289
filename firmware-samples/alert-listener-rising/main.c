/* The listener that senses rising edges: it hears of an alert when the line is released, which waits for the acknowledgement. */
#define SENSE (_BV(ISC01) | _BV(ISC00))
#include "../common/alert-listener.h"
