// The fingerprints of uint16 images on a device (fingerprint.h).
#include "fingerprint.h"

SHARED(uint16)
BESIDE(uint16)
