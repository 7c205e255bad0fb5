// The fingerprints of float32 images on a device (fingerprint.h).
#include "fingerprint.h"

SHARED(float32)
BESIDE(float32)
