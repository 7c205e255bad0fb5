// The fingerprints of uint16 images on a device (fingerprint.h).
#include "fingerprint.h"

KERNELS(places, places, uint16)
KERNELS(products, products, uint16)
KERNELS(beside, beside, uint16)
