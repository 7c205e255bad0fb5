// The fingerprints of uint8 images on a device (fingerprint.h).
#include "fingerprint.h"

SHARED(uint8)
