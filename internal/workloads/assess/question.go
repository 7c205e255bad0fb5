package assess

import (
	"fmt"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
)

// Inputs makes pairs from names assess/labels=N/shift=N/of=IMAGE. The truth labels the lower half of
// the levels of the image in equal bands. The prediction labels the image moved by one voxel along
// x, with its levels raised by a share of all levels.
func Inputs() *fields.Questions[*Pair] {
	return &fields.Questions[*Pair]{
		Form: name.Form{Kind: Name, Keys: []name.Key{
			{Key: "labels", Doc: "number of labels", Min: 1, Max: 255, Default: 1},
			{Key: "shift", Doc: "levels that separate the prediction from the truth, in percent of all levels",
				Max: 50, Default: 5},
		}},
		Pose: pose,
		Weigh: func(p *Pair, keys []float64, cost bench.Cost) bench.Cost {
			cost.Bytes = 2 * cost.Items
			cost.Class = fmt.Sprintf("labels=%v/shift=%v/%s", keys[0], keys[1], cost.Class)
			return cost
		},
	}
}

// pose labels an image.
func pose(in grid.Source, keys []float64) (*Pair, error) {
	f, err := grid.Load(in)
	if err != nil {
		return nil, err
	}
	n, labels := f.Ladder().Len(), int64(keys[0])
	half, shift := (n+1)/2, n*int64(keys[1])/100
	label := func(level int64) uint8 {
		if level >= half {
			return 0
		}
		return uint8(1 + level*labels/half)
	}
	s := f.Shape()
	levels := make([]int32, s.Voxels())
	grid.NewConverter(f.Type(), f.Ladder()).Convert(levels, f.Data())
	var images [2]*grid.Field
	for i := range images {
		codes := grid.NewBuffer(s.Voxels())
		for at := range codes {
			if level := int64(levels[at]); i == 1 {
				codes[at] = label(level)
			} else if int64(at)%s.W > 0 {
				codes[at] = label(int64(levels[at-1]) + shift)
			}
		}
		if images[i], err = grid.Trusted(s, grid.Uint8, codes, grid.Identity(grid.Uint8)); err != nil {
			return nil, err
		}
	}
	p, err := NewPair(images[0], images[1], nil, nil)
	if err != nil {
		return nil, err
	}
	p.image, p.keys = in, keys
	return p, nil
}

// Image returns the image that was labelled, nil for a pair of label images.
func (p *Pair) Image() grid.Source { return p.image }

// Keys returns the keys of the name of the pair.
func (p *Pair) Keys() []float64 { return p.keys }

// Close closes the image.
func (p *Pair) Close() error { return grid.Close(p.image) }

func question() bench.Question {
	q := Inputs()
	const levels = "/levels=64/type=uint8/seed=5"
	return bench.Question{
		Doc:  "the topology of a segmentation against its truth: voxels, Betti numbers and matched features by label",
		Form: q.Form,
		Adversarial: []string{
			q.NameOf("noise/shape=1x1"+levels, 1, 5), q.NameOf("noise/shape=13x1"+levels, 1, 5),
			q.NameOf("noise/shape=61x43"+levels, 1, 5), q.NameOf("noise/shape=1x7x9"+levels, 1, 5),
			q.NameOf("noise/shape=12x11x10"+levels, 3, 5), q.NameOf("noise/shape=130x5x4"+levels, 2, 20),
			q.NameOf("checkerboard/shape=9x8x7/type=uint8", 1, 5), q.NameOf("constant/shape=8x8x8/type=uint8", 1, 5),
			q.NameOf("grf/shape=40x36x32/levels=256/type=uint8/seed=3", 5, 5),
			q.NameOf("tubes/shape=48x48x48/type=uint8/truth=1/seed=7", 1, 0),
		},
		Small: []string{
			q.NameOf("tubes/shape=96x96x96/type=uint8/truth=1/seed=7", 1, 0),
			q.NameOf("grf/shape=96x96x96/levels=256/type=uint8/seed=3", 5, 5),
		},
	}
}
