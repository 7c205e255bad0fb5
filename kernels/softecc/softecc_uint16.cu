// The soft curve of uint16 images (softecc.h).
#include "softecc.h"

SOFTECC(uint16)
