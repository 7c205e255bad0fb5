package betti

import (
	"slices"

	"eccbench/internal/bench"
)

func question() bench.Question {
	return bench.Question{
		Doc: "the Betti numbers of the voxels of an image at or below a level", Form: Form(),
		Adversarial: adversarial(),
		Small: []string{
			NameOf(middle, "noise/shape=64x64x64/levels=256/type=uint8/seed=1"),
			NameOf(middle, "grf/shape=64x64x64/levels=256/type=uint8/smooth=2/seed=1"),
			NameOf(middle, "grf/shape=61x67x71/levels=1024/type=float32/smooth=2/seed=1"),
			NameOf(middle, "noise/shape=512x512/levels=256/type=uint8/seed=1"),
		},
		Reads: imageOptions().Image,
	}
}

// adversarial lists binary images that are difficult for implementations.
func adversarial() []string {
	of := func(level int64, images ...string) (list []string) {
		for _, image := range images {
			list = append(list, NameOf(level, image))
		}
		return list
	}
	return slices.Concat(
		// known answers
		of(0, "constant/shape=1x1/type=uint8", "constant/shape=67x5x4/type=float32", "point/shape=5x5x5/type=uint8",
			"point/shape=1x1x3/type=int16", "ball/shape=33x31x29/type=uint8",
			"shell/shape=24x24x24/type=uint8", "shell/shape=131x31/type=uint16", "torus/shape=24x24x24/type=float32", "links/shape=66x32x32/type=uint8",
			"checkerboard/shape=6x7x8/type=uint8", "checkerboard/shape=67x5x6/type=int16",
			"checkerboard/shape=9x9/type=uint8", "checkerboard/shape=1x1x9/type=uint8",
			"checkerboard/shape=129x2x2/type=uint8",
			"dots/shape=9x8x7/type=uint16", "dots/shape=131x16/type=uint8",
			"drills/shape=67x9x8/type=uint8", "drills/shape=15x14/type=uint8", "cavities/shape=67x9x8/type=float32", "cavities/shape=131x13/type=uint8",
			"serpent/shape=67x13x12/type=uint8", "serpent/shape=13x66/type=uint8", "serpent/shape=9x8x31/type=uint8"),
		of(middle, "constant/shape=9x7x5/type=uint8", "ramp/shape=12x11x10/type=uint8"),
		// the smallest images, rows, columns, needles and sheets
		of(middle, "noise/shape=1x2/levels=2/type=uint8/seed=1", "noise/shape=37x1/type=uint8/seed=2",
			"noise/shape=1x37/type=int16/seed=2", "noise/shape=200x1/levels=2/type=uint8/seed=2",
			"noise/shape=1x1x131/type=uint8/levels=4/seed=3", "noise/shape=1x67x2/type=uint16/seed=3", "noise/shape=2x2x2/type=uint8/levels=2/seed=4",
			"noise/shape=2x31x33/type=uint8/seed=4", "noise/shape=33x2x31/type=uint8/seed=4",
			"noise/shape=131x33x2/type=uint8/seed=4", "noise/shape=3x3x131/type=uint8/seed=4"),
		// rows that end before, with and after a word of bits
		of(middle, "noise/shape=63x9x7/type=uint8/seed=5", "noise/shape=64x9x7/type=uint8/seed=5",
			"noise/shape=65x9x7/type=uint8/seed=5", "noise/shape=127x8x6/type=int16/seed=5",
			"noise/shape=128x8x6/type=uint16/seed=5", "noise/shape=129x8x6/type=float32/seed=5", "noise/shape=193x61/type=uint8/seed=5"),
		// few voxels and many, where there are most runs, components, tunnels or cavities
		of(12, "noise/shape=66x17x19/levels=256/type=uint8/seed=6"), of(25, "noise/shape=66x17x19/levels=256/type=uint8/seed=6"),
		of(79, "noise/shape=66x17x19/levels=256/type=uint8/seed=6"), of(176, "noise/shape=66x17x19/levels=256/type=uint8/seed=6"),
		of(230, "noise/shape=66x17x19/levels=256/type=uint8/seed=6",
			"noise/shape=70x60/levels=256/type=uint8/seed=6"),
		of(254, "noise/shape=31x30x29/levels=256/type=uint8/seed=6"),
		// extreme values of types, values between levels, many levels
		of(0, "extremes/shape=65x33x7/type=uint8/lowest=0/highest=2/seed=7", "extremes/shape=67x9x5/type=int16/lowest=1/highest=1/seed=7"),
		of(254, "extremes/shape=65x33x7/type=uint8/lowest=1/highest=1/seed=7"), of(65534, "extremes/shape=67x9x5/type=uint16/lowest=2/highest=0/seed=7"),
		of(40, "between/shape=43x11x7/levels=200/step=0.1/seed=20", "between/shape=213x31/levels=200/seed=20"), of(32768, "noise/shape=35x11x9/type=float32/levels=65536/seed=15"),
		// smooth images, and more planes than the cores have parts
		of(middle, "grf/shape=72x40x36/type=uint8/seed=8", "grf/shape=65x66x67/type=float32/smooth=1/seed=8", "grf/shape=164x148/type=int16/seed=8",
			"noise/shape=7x9x131/type=float32/levels=9/seed=16", "noise/shape=3x211x5/type=uint8/seed=16",
			"noise/shape=5x4099/type=uint8/seed=19", "noise/shape=3x2x4101/type=uint8/levels=17/seed=19"),
	)
}
