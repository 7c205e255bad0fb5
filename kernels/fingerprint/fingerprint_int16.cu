// The fingerprints of int16 images on a device (fingerprint.h).
#include "fingerprint.h"

SHARED(int16)
BESIDE(int16)
