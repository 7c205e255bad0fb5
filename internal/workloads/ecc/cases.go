package ecc

import (
	"fmt"

	"eccbench/internal/bench"
)

// Question describes the workload to users.
func Question() bench.Question {
	return bench.Question{
		Doc:         "the Euler characteristic curve of an image",
		Adversarial: Adversarial(), Long: Long(),
		// 2D and 3D, one and four bytes, noise and smooth. With one implementation, a gate of ten
		// blocks takes a few minutes.
		Small: []string{
			"noise/shape=64x64x64/levels=1024/type=float32/seed=1",
			"noise/shape=64x64x64/levels=256/type=uint8/seed=1",
			"grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1",
			"grf/shape=61x67x71/levels=1024/type=uint16/smooth=2/seed=1",
			"noise/shape=512x512/levels=1024/type=float32/seed=1",
			"grf/shape=512x512/levels=256/type=uint8/smooth=2/seed=1",
		},
	}
}

// Adversarial lists inputs that tend to break implementations: shapes, ties, ladders and magnitudes
// that ordinary images lack. All are small enough for the reference.
func Adversarial() []string {
	cases := []string{
		// the smallest images, rows, columns and needles
		"constant/shape=1x1/type=uint8", "constant/shape=1x1x1/type=float32", "noise/shape=1x2/type=uint8/levels=2/seed=1",
		"noise/shape=2x1/type=uint8/levels=2/seed=1", "noise/shape=37x1/type=uint8/seed=2", "noise/shape=1x37/type=int16/seed=2",
		"noise/shape=1x1x31/type=uint8/levels=4/seed=3", "noise/shape=31x1x1/type=uint16/levels=4/seed=3", "noise/shape=1x31x2/type=uint8/levels=4/seed=3",
		"noise/shape=2x2x2/type=uint8/levels=2/seed=4", "noise/shape=2x2x3/type=uint8/levels=3/seed=5",
		// odd, prime and non-cubic shapes
		"noise/shape=7x5x3/type=uint8/seed=6", "noise/shape=3x5x7/type=int16/seed=6", "noise/shape=13x17/type=float32/seed=6",
		"noise/shape=31x17x13/type=float32/seed=7", "noise/shape=33x9x15/type=uint16/levels=300/seed=7", "noise/shape=65x33x5/type=uint8/seed=8",
		"noise/shape=5x33x65/type=uint8/seed=8", "noise/shape=127x3x3/type=uint8/levels=7/seed=8", "noise/shape=101x67/type=uint8/seed=9",
		"noise/shape=67x101/type=int16/levels=1000/seed=9",
		// ties everywhere, and nowhere
		"constant/shape=9x7x5/type=uint8", "constant/shape=40x30/type=int16", "noise/shape=16x15x14/type=uint8/levels=2/seed=10",
		"noise/shape=16x15x14/type=float32/levels=3/seed=10", "noise/shape=64x63/type=uint8/levels=2/seed=10",
		"distinct/shape=16x15x14/type=float32/seed=11", "distinct/shape=61x59/type=float32/seed=11", "distinct/shape=16x16/type=uint8/seed=11",
		// closed forms
		"point/shape=5x5x5/type=uint8", "point/shape=7x7/type=float32", "ball/shape=16x16x16/type=uint8", "ball/shape=33x33/type=uint8",
		"shell/shape=24x24x24/type=uint8", "shell/shape=31x31/type=int16", "torus/shape=24x24x24/type=float32", "links/shape=32x32x32/type=uint8",
		"checkerboard/shape=6x7x8/type=uint8", "checkerboard/shape=9x9/type=uint8", "dots/shape=9x8x7/type=uint16", "dots/shape=15x16/type=uint8",
		"ramp/shape=12x11x10/type=uint8", "ramp/shape=40x40/type=float32", "serpent/shape=15x14x9/type=uint8", "serpent/shape=15x14/type=int16",
		"drills/shape=16x15x14/type=uint8/count=9", "drills/shape=33x31/type=uint8/count=7",
		"cavities/shape=16x15x14/type=uint8/count=11", "cavities/shape=33x31/type=uint16/count=12",
		// values 1e-7 apart, and denormals
		"noise/shape=12x11x10/type=float32/levels=64/lo=0/step=1e-07/seed=12", "noise/shape=12x11x10/type=float32/levels=64/lo=0/step=2e-45/seed=12",
		"noise/shape=30x20/type=float32/levels=64/lo=-0.000003/step=1e-07/seed=12",
		// smooth fields, in which most voxels change nothing
		"grf/shape=24x20x16/type=uint8/seed=13", "grf/shape=64x48/type=float32/seed=13", "grf/shape=20x20x20/type=int16/levels=500/seed=13",
		// rolled inputs, which rotate in place of a seed; repeated inputs, whose readers need only
		// one period
		"noise/shape=7x5x47/type=uint8/levels=9/seed=22/repeat=3",
		"noise/shape=33x60/type=float32/levels=9/seed=22/repeat=7", "ramp/shape=12x11x10/type=uint8/roll=3",
		"ball/shape=16x16x16/type=uint8/roll=5",
	}
	cases = append(cases,
		// more slices than a kernel processes in one pass, and more tiles than its blocks process
		// at once
		"noise/shape=7x9x131/type=float32/levels=9/seed=16", "noise/shape=3x211x5/type=float32/levels=9/seed=16",
		// many voxels on few levels: all threads update the same counters
		"noise/shape=96x64x32/type=float32/levels=4/seed=16")
	// numbers of levels at which tables, chunks of tables and types end
	for _, levels := range []int{257, 512, 513, 1024, 1025} {
		cases = append(cases,
			fmt.Sprintf("noise/shape=19x18x17/type=float32/levels=%d/seed=14", levels),
			fmt.Sprintf("noise/shape=83x71/type=float32/levels=%d/seed=14", levels))
	}
	for _, typ := range []string{"int16", "uint16", "float32"} {
		cases = append(cases,
			fmt.Sprintf("noise/shape=11x10x9/type=%s/levels=65536/seed=15", typ),
			fmt.Sprintf("noise/shape=31x29/type=%s/levels=65536/seed=15", typ))
	}
	return append(append(cases, atTheEnds()...), besideLevels()...)
}

// besideLevels lists float32 images whose values are between levels, as in most files. Their
// ladders include some that float32 arithmetic reproduces, and some that it does not. The numbers
// of levels need lanes of 8, 16 and 32 bits, and the rows have several vectors plus a remainder.
func besideLevels() []string {
	var cases []string
	for _, shape := range []string{"263x31", "43x11x7"} {
		for _, ladder := range []string{"levels=200", "levels=200/step=0.1", "levels=1024",
			"levels=1000/lo=-3.3/step=0.1", "levels=70000", "levels=70000/lo=-4/step=0.001"} {
			cases = append(cases, fmt.Sprintf("between/shape=%s/%s/seed=20", shape, ladder))
		}
	}
	return cases
}

// atTheEnds lists images with extreme properties: the highest and lowest values of a type on all its
// levels, at every border, in rows of more than one and more than two vectors of every instruction
// set. Others have more levels than a core's own table, or axes longer than 4096.
func atTheEnds() []string {
	var cases []string
	for _, of := range []struct {
		typ    string
		shapes []string
	}{
		// a vector has 32 or 64 lanes
		{"uint8", []string{"101x67", "133x9", "65x33x7", "131x5x4"}},
		// a vector has 16 or 32 lanes
		{"int16", []string{"67x23", "35x11x5"}}, {"uint16", []string{"69x19", "67x9x5"}},
	} {
		for _, shape := range of.shapes {
			// Code may treat the outside of the image as the last level.
			for _, ends := range []string{"lowest=0/highest=2", "lowest=2/highest=0", "lowest=1/highest=1"} {
				cases = append(cases, fmt.Sprintf("extremes/shape=%s/type=%s/%s/seed=17", shape, of.typ, ends))
			}
		}
	}
	return append(cases,
		// one level less than the number of lane values, and equal to it
		"extremes/shape=67x5x3/type=float32/levels=255/lowest=0/highest=2/seed=17", "extremes/shape=67x9/type=float32/levels=256/lowest=1/highest=1/seed=17",
		// more than 2²⁰ levels
		"noise/shape=35x11x5/type=float32/levels=1048577/seed=18", "noise/shape=67x9/type=float32/levels=1048579/seed=18",
		"extremes/shape=19x5x4/type=float32/levels=1048577/lowest=0/highest=2/seed=18",
		// axes longer than 4096, and enough rows that each core takes a strip of them
		"noise/shape=4099x5/type=uint8/levels=5/seed=19", "noise/shape=5x4099/type=float32/levels=5/seed=19",
		"noise/shape=4101x3x2/type=float32/levels=7/seed=19", "noise/shape=2x4101x3/type=uint16/levels=7/seed=19",
		"noise/shape=3x3001x9/type=uint8/levels=5/seed=19", "noise/shape=3x2x4101/type=uint8/levels=17/seed=19",
		"extremes/shape=3x2x4099/type=uint8/lowest=0/highest=2/seed=19",
		// more long rows than a core's cache can contain
		"noise/shape=4101x27x2/type=uint8/levels=9/seed=21", "noise/shape=4101x13x2/type=uint16/levels=300/seed=21",
		// and fewer rows per step than a core counts, if the image is streamed
		"noise/shape=4101x133/type=float32/levels=5/seed=21")
}

// Long lists large inputs: more than 2²⁴ components, and more than 2³¹ voxels.
func Long() []string {
	return []string{
		"dots/shape=8195x8195/type=uint8",
		"dots/shape=1301x1301x1301/type=uint8",
	}
}
