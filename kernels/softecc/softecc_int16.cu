// The soft curve of int16 images (softecc.h).
#include "softecc.h"

SOFTECC(int16)
