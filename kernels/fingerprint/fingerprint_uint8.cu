// The fingerprints of uint8 images on a device (fingerprint.h).
#include "fingerprint.h"

KERNELS(places, places, uint8)
