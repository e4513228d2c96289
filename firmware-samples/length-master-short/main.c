/* Packets of a master that sends four bytes at most, with room for three. */
#define ROOM 3
#include "../common/length-master.h"
