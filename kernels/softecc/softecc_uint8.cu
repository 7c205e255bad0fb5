// The soft curve of uint8 images (softecc.h).
#include "softecc.h"

SOFTECC(uint8)
