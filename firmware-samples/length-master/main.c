/* Packets of a master that sends four bytes at most, with room for four. */
#define ROOM 4
#include "../common/length-master.h"
