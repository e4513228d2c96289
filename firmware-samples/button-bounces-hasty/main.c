/* A press of a button that bounces five times can be counted twice: five looks in a row may all be bounces. */
#define LOOKS 5
#include "../common/button-bounces.h"
