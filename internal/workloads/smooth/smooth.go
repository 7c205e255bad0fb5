// Package smooth defines the question of a pipeline on a resident image: the Euler characteristic
// curve of an image, and of the image smoothed by a Gaussian once, twice and so on (Wang et al.
// 2022, section 5.3). Every curve is copied to the host and summed.
//
// The smoothing is defined to the last bit (gauss.go), so the curves of a processor and of a device
// are equal.
package smooth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
	"eccbench/internal/workloads/ecc"
)

// Name is the name of the workload.
const Name = "ecc-smooth"

// most is the largest number of iterations.
const most = 1 << 20

// checkpoint is the number of iterations between kept curves.
const checkpoint = 1000

// Workload is the question, put to implementations.
func Workload(impls ...bench.Implementation[*Pipeline, Answer]) bench.Workload[*Pipeline, Answer] {
	return bench.Workload[*Pipeline, Answer]{
		Name: Name, Question: question(), Inputs: Inputs(), Impls: impls, Policy: policy(), Encode: bench.Small(Encode),
		Decode: Decode,
	}
}

func question() bench.Question {
	q := Inputs()
	return bench.Question{
		Doc:  "the Euler characteristic curves of an image smoothed repeatedly",
		Form: q.Form,
		Adversarial: []string{
			q.NameOf("noise/shape=1x1/levels=4/type=float32/seed=5", 3),
			q.NameOf("noise/shape=61x43/levels=64/type=float32/seed=5", 3),
			q.NameOf("noise/shape=5x300/levels=256/type=float32/seed=5", 9),
			q.NameOf("noise/shape=300x5/levels=256/type=float32/seed=5", 5),
			q.NameOf("noise/shape=13x1/levels=16/type=float32/seed=4", 4),
			q.NameOf("constant/shape=8x8/type=float32", 2),
			q.NameOf("noise/shape=257x255/levels=65536/type=float32/seed=5", 30), q.NameOf("grf/shape=48x40/levels=1024/type=float32/smooth=1/seed=3", 1003),
		},
		Small: []string{q.NameOf("noise/shape=512x512/levels=1024/type=float32/seed=1", 20), q.NameOf("grf/shape=512x512/levels=1024/type=float32/smooth=2/seed=1", 20)},
		Reads: q.Common().Image,
	}
}

// A Pipeline is a 2D float32 image with a number of iterations. Each iteration counts the image and
// then smooths it.
type Pipeline struct {
	grid.Source
	Iterations int64
}

// A Checkpoint is the curve that an iteration counted; the first is 1.
type Checkpoint struct {
	Iteration int64
	VCEC      ecc.VCEC
}

// An Answer has the curves of the first, every 1000th and the last iteration, and sums over all of
// them.
type Answer struct {
	Checkpoints []Checkpoint
	Sum         int64  // of all changes of all iterations
	Trail       uint64 // folds the steps of all curves in order
}

// Add adds the curve of iteration i of the given number.
func (a *Answer) Add(i, of int64, v ecc.VCEC) {
	const prime = 1099511628211 // of FNV-1a
	var chi int64
	for _, s := range v {
		chi += s.Change
		a.Trail = (a.Trail ^ uint64(s.Level)) * prime
		a.Trail = (a.Trail ^ uint64(chi)) * prime
	}
	a.Sum += chi
	if isCheckpoint(i, of) {
		a.Checkpoints = append(a.Checkpoints, Checkpoint{i, v})
	}
}

func isCheckpoint(i, of int64) bool { return i == 1 || i == of || i%checkpoint == 0 }

// Inputs makes pipelines from names smooth/iterations=N/of=IMAGE. Cost is one read of the image for
// each iteration.
func Inputs() *fields.Questions[*Pipeline] {
	return &fields.Questions[*Pipeline]{
		Form: form(),
		Pose: func(in grid.Source, keys []float64) (*Pipeline, error) { return &Pipeline{in, int64(keys[0])}, nil },
		Fewer: func(keys []float64) [][]float64 {
			if keys[0] == 1 {
				return nil
			}
			return [][]float64{{math.Ceil(keys[0] / 2)}, {keys[0] - 1}}
		},
		Weigh: func(p *Pipeline, _ []float64, cost bench.Cost) bench.Cost {
			cost.Items, cost.Bytes = cost.Items*p.Iterations, cost.Bytes*p.Iterations
			cost.Class, cost.Size = "smoothed/"+cost.Class, fmt.Sprintf("%sx%d", cost.Size, p.Iterations)
			return cost
		},
	}
}

// Image returns the image to smooth.
func (p *Pipeline) Image() grid.Source { return p.Source }

// Keys returns the keys of the pipeline's name.
func (p *Pipeline) Keys() []float64 { return []float64{float64(p.Iterations)} }

// Close closes the image.
func (p *Pipeline) Close() error { return grid.Close(p.Source) }

// form returns the form of the names of pipelines.
func form() name.Form {
	return name.Form{Kind: "smooth", Keys: []name.Key{{
		Key: "iterations", Doc: "number of times to count and smooth the image", Min: 1, Max: most, Default: 100,
	}}}
}

// Encode writes the answer with its curves as package ecc does.
func Encode(a Answer) []byte {
	b := binary.LittleEndian.AppendUint64(nil, a.Trail)
	b = binary.AppendVarint(b, a.Sum)
	b = binary.AppendUvarint(b, uint64(len(a.Checkpoints)))
	for _, c := range a.Checkpoints {
		one := ecc.Encode(c.VCEC)
		b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(c.Iteration)), uint64(len(one)))
		b = append(b, one...)
	}
	return b
}

// Decode is the inverse of Encode.
func Decode(b []byte) (a Answer, err error) {
	malformed := errors.New("malformed answer")
	if len(b) < 8 {
		return a, malformed
	}
	a.Trail, b = binary.LittleEndian.Uint64(b), b[8:]
	sum, k := binary.Varint(b)
	if k <= 0 {
		return a, malformed
	}
	a.Sum, b = sum, b[k:]
	next := func() (v uint64, ok bool) {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			return 0, false
		}
		b = b[k:]
		return v, true
	}
	n, ok := next()
	for range n {
		i, ok1 := next()
		size, ok2 := next()
		if !ok1 || !ok2 || size > uint64(len(b)) {
			return a, malformed
		}
		v, err := ecc.Decode(b[:size])
		if err != nil {
			return a, err
		}
		a.Checkpoints = append(a.Checkpoints, Checkpoint{int64(i), v})
		b = b[size:]
	}
	if !ok || len(b) > 0 {
		return a, malformed
	}
	return a, nil
}

// Accepted is nil, or why the pipeline cannot be answered: images of float32 in 2D can.
func (p *Pipeline) Accepted() error {
	if p.Shape().Dim() != 2 || p.Type() != grid.Float32 {
		return fmt.Errorf("%v of %v: smooths 2D images of float32 only", p.Shape(), p.Type())
	}
	return nil
}

// Images are the pixels of a pipeline's image after each of the given numbers of
// smoothings, which ascend.
func (p *Pipeline) Images(after []int64) ([][]float32, error) {
	if err := p.Accepted(); err != nil {
		return nil, err
	}
	data := grid.NewBuffer(grid.TotalBytes(p))
	if err := p.ReadSlab(data, 0, p.Shape().Slices()); err != nil {
		return nil, err
	}
	now, next := grid.Values[float32](data), make([]float32, p.Shape().Voxels())
	between := make([]float32, p.Shape().Voxels())
	var list [][]float32
	done := int64(0)
	for _, n := range after {
		for ; done < n; done++ {
			plain(next, now, between, p.Shape().W, p.Shape().H, p.Top(), runtime.GOMAXPROCS(0))
			now, next = next, now
		}
		list = append(list, slices.Clone(now))
	}
	return list, nil
}
