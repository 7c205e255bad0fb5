// The soft curve of float32 images (softecc.h).
#include "softecc.h"

SOFTECC(float32)
