// The fingerprints of int16 images on a device (fingerprint.h).
#include "fingerprint.h"

KERNELS(places, places, int16)
KERNELS(products, products, int16)
KERNELS(beside, beside, int16)
