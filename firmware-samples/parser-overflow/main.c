/* The parser that trusts the received length. */
#define CHECKED 0
#include "../common/parser.h"
