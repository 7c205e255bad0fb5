package softbatch

import (
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/softecc"
)

// drawn is the number of images that the witness of a large batch compares.
const drawn = 16

func policy() verify.Policy[problem, answers] {
	return verify.Policy[problem, answers]{
		Distance: distance,
		Laws:     laws(),
		Weak: func(p problem, out answers) string {
			for i, a := range out {
				if why := weak(p.Problem, a); why != "" {
					return fmt.Sprintf("image %d: %s", i, why)
				}
			}
			return ""
		},
	}
}

var weak = softecc.Policy().Weak

func laws() []law {
	one := softecc.OnePass()
	pass := func(name string, most int64) law {
		return law{
			Name: name, Independent: true,
			Measure: func(p problem, out answers, _ ask) ([]verify.Measure, error) {
				return eachOf(p, out, pick(p, most), func(q *softecc.Problem, a softecc.Answer) ([]verify.Measure, error) {
					return one.Measure(q, a, nil)
				})
			},
			Work:   func(p problem) time.Duration { return one.Work(p.Problem) * time.Duration(min(most, p.Len())) },
			Memory: func(p problem) int64 { return one.Memory(p.Problem) + grid.TotalBytes(p.Images) },
		}
	}
	return []law{
		pass("one pass over all cells of each image", math.MaxInt64),
		pass("one pass over all cells of drawn images", drawn),
		{Name: "no two images have one answer", Check: different},
		{Name: "an image alone", Calls: 1, Measure: alone},
	}
}

// pick returns all images in order, or if there are more than most, as many drawn ones.
func pick(p problem, most int64) []int {
	list := rand.Perm(int(p.Len()))[:min(most, p.Len())]
	slices.Sort(list)
	return list
}

// eachOf returns the worst measures of some images.
func eachOf(p problem, out answers, images []int,
	measure func(*softecc.Problem, softecc.Answer) ([]verify.Measure, error)) ([]verify.Measure, error) {
	if int64(len(out)) != p.Len() {
		return []verify.Measure{missing(p.Len(), out)}, nil
	}
	var worst []verify.Measure
	for _, i := range images {
		q, err := p.At(int64(i))
		if err != nil {
			return nil, err
		}
		list, err := measure(q, out[i])
		if err != nil {
			return nil, err
		}
		worst = verify.Worst(worst, of(i, list))
	}
	return worst, nil
}

// of names the image in the place of each measure.
func of(image int, list []verify.Measure) []verify.Measure {
	for k := range list {
		list[k].At = fmt.Sprintf("image %d, %s", image, list[k].At)
	}
	return list
}

// missing returns a measure that exceeds any limit.
func missing(want int64, got answers) verify.Measure {
	return verify.Measure{Name: "answers", Value: math.NaN(), At: fmt.Sprintf("%d in place of %d", len(got), want)}
}

// distance is that of each image.
func distance(p problem, want, got answers) (worst []verify.Measure) {
	if len(want) != len(got) {
		return []verify.Measure{missing(int64(len(want)), got)}
	}
	for i := range want {
		worst = verify.Worst(worst, of(i, softecc.Distance(p.Problem, want[i], got[i])))
	}
	return worst
}

// different rejects an answer that equals that of another image, as if a buffer had not been
// replaced. Images of a few voxels may have equal answers, and so may all without a gradient.
func different(p problem, out answers, _ ask) (*verify.Diff, error) {
	if p.Shape().Voxels() < 1<<12 || p.Ladder().Len() < 64 {
		return nil, verify.ErrNotApplicable
	}
	seen, seed := map[uint64]int{}, maphash.MakeSeed()
	for i, a := range out {
		if weak(p.Problem, a) != "" {
			continue
		}
		h := maphash.Bytes(seed, grid.Bytes(a.DX))
		if k, ok := seen[h]; ok && slices.Equal(a.DX, out[k].DX) {
			return &verify.Diff{Where: fmt.Sprintf("images %d and %d", k, i), Want: "two gradients", Got: "one"}, nil
		}
		seen[h] = i
	}
	return nil, nil
}

// alone compares the answer about a drawn image with the answer about a batch of that image alone.
func alone(p problem, out answers, ask ask) ([]verify.Measure, error) {
	return eachOf(p, out, pick(p, 1), func(q *softecc.Problem, a softecc.Answer) ([]verify.Measure, error) {
		got, err := ask(&softecc.Batch{Problem: q, Images: grid.Batch{Source: q.Source, Images: 1}})
		if err != nil || len(got) != 1 {
			return []verify.Measure{missing(1, got)}, err
		}
		return softecc.Distance(q, a, got[0]), nil
	})
}
