package smooth

import (
	"sync"
)

// Radius is the reach of the kernel, which is 13 pixels wide (Wang et al. 2022, section 5.3). The
// paper omits its standard deviation; here it is 2, so the kernel ends at three of them.
const Radius = 6

// Weights returns the weights of the pixel and of its neighbours at 1 to Radius: the float32
// nearest to exp(−k²/8) over the sum of all 13.
func Weights() [Radius + 1]float32 {
	return [Radius + 1]float32{0x1.98ef8a0000000p-3, 0x1.68e26c0000000p-3, 0x1.f010660000000p-4, 0x1.0986220000000p-4,
		0x1.babf560000000p-6, 0x1.1f7a640000000p-7, 0x1.22be4e0000000p-9}
}

// One smoothing is two passes, along x and then along y, in which every pixel
// becomes
//
//	w₀·v₀, plus w₁·(v₋₁+v₁), plus w₂·(v₋₂+v₂), … in this order,
//
// every product and sum rounded to float32. Outside of the image the nearest pixel counts. The result
// is at most the top of the ladder, so every pixel stays on a level.

// plain smooths by the definition, pixel by pixel, and is the reference for implementations. Each
// core has a strip of rows.
func plain(dst, src, between []float32, width, height int64, top float32, cores int) {
	w := Weights()
	Share(cores, height, func(lo, hi int64) {
		for y := lo; y < hi; y++ {
			row := src[y*width:][:width]
			for x := range width {
				between[y*width+x] = pixel(row, 1, x, width, &w)
			}
		}
	})
	Share(cores, height, func(lo, hi int64) {
		for y := lo; y < hi; y++ {
			for x := range width {
				dst[y*width+x] = min(pixel(between[x:], width, y, height, &w), top)
			}
		}
	})
}

// pixel returns the smoothed pixel at of a line of n pixels, which are stride values apart.
func pixel(line []float32, stride, at, n int64, w *[Radius + 1]float32) float32 {
	sum := float32(w[0] * line[at*stride])
	if at >= Radius && at < n-Radius {
		for k := int64(1); k <= Radius; k++ {
			sum += float32(w[k] * (line[(at-k)*stride] + line[(at+k)*stride]))
		}
		return sum
	}
	for k := int64(1); k <= Radius; k++ {
		sum += float32(w[k] * (line[max(at-k, 0)*stride] + line[min(at+k, n-1)*stride]))
	}
	return sum
}

// Share divides n rows among cores goroutines.
func Share(cores int, n int64, work func(lo, hi int64)) {
	parts := max(1, min(int64(cores), n))
	var wg sync.WaitGroup
	for p := range parts {
		wg.Go(func() { work(n*p/parts, n*(p+1)/parts) })
	}
	wg.Wait()
}
