/* A level that is limited. */
#define HIGHEST LIMIT
#include "../common/word-limit.h"
