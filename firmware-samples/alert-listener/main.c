/* The listener of an alert line that is pulled low: it senses falling edges. */
#define SENSE _BV(ISC01)
#include "../common/alert-listener.h"
