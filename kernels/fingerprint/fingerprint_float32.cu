// The fingerprints of float32 images on a device (fingerprint.h).
#include "fingerprint.h"

KERNELS(places, places, float32)
KERNELS(products, products, float32)
KERNELS(beside, beside, float32)
KERNELS(every, every, float32)
