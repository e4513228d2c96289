/* A level that is limited too late. */
#define HIGHEST (LIMIT + 10)
#include "../common/word-limit.h"
