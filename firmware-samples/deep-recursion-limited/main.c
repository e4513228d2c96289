/* 15 nested calls: the stack stays clear of the table. */
#define DEEPEST 15
#include "../common/deep-recursion.h"
