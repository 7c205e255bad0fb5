// Package smooth is the question of a pipeline that stays where the image is: the
// Euler characteristic curve of an image, and of the image smoothed by a Gaussian
// once, twice and so on (Wang et al. 2022, section 5.3). Every curve is brought to
// the host and summed.
//
// The smoothing is defined to the last bit (gauss.go), so that the curves of a
// processor and of a device are equal.
package smooth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
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

// checkpoint is how many iterations lie between curves that are kept.
const checkpoint = 1000

// Workload is the question, put to implementations.
func Workload(impls ...bench.Implementation[*Pipeline, Answer]) bench.Workload[*Pipeline, Answer] {
	return bench.Workload[*Pipeline, Answer]{
		Name: Name, Question: question(), Inputs: Inputs{}, Impls: impls, Policy: policy(), Encode: bench.Small(Encode), Decode: Decode,
	}
}

func question() bench.Question {
	return bench.Question{
		Doc:  "the Euler characteristic curve of an image that is counted and smoothed in turn",
		Form: Form(),
		Adversarial: []string{
			spell(3, "noise/shape=1x1/levels=4/type=float32/seed=5"), spell(3, "noise/shape=61x43/levels=64/type=float32/seed=5"), spell(9, "noise/shape=5x300/levels=256/type=float32/seed=5"),
			spell(5, "noise/shape=300x5/levels=256/type=float32/seed=5"), spell(4, "noise/shape=13x1/levels=16/type=float32/seed=4"), spell(2, "constant/shape=8x8/type=float32"),
			spell(30, "noise/shape=257x255/levels=65536/type=float32/seed=5"), spell(1003, "grf/shape=48x40/levels=1024/type=float32/smooth=1/seed=3"),
		},
		Small: []string{spell(20, "noise/shape=512x512/levels=1024/type=float32/seed=1"), spell(20, "grf/shape=512x512/levels=1024/type=float32/smooth=2/seed=1")},
		Reads: of().Image,
	}
}

// A Pipeline is an image of float32 in 2D with a number of iterations, each of
// which counts the image and then smooths it.
type Pipeline struct {
	grid.Source
	Iterations int64
}

// A Checkpoint is the curve that an iteration counted; the first is 1.
type Checkpoint struct {
	Iteration int64
	VCEC      ecc.VCEC
}

// An Answer is the curves of the first, every 1000th and the last iteration, and
// what all of them together come to.
type Answer struct {
	Checkpoints []Checkpoint
	Sum         int64  // of all changes of all iterations
	Trail       uint64 // folds the steps of all curves in order
}

// Add sums up the curve of an iteration of so many.
func (a *Answer) Add(i, of int64, v ecc.VCEC) {
	const prime = 1099511628211 // of FNV-1a
	var chi int64
	for _, s := range v {
		chi += s.Change
		a.Trail = (a.Trail ^ uint64(s.Level)) * prime
		a.Trail = (a.Trail ^ uint64(chi)) * prime
	}
	a.Sum += chi
	if kept(i, of) {
		a.Checkpoints = append(a.Checkpoints, Checkpoint{i, v})
	}
}

func kept(i, of int64) bool { return i == 1 || i == of || i%checkpoint == 0 }

// Inputs makes pipelines from names smooth/iterations=N/of=IMAGE.
type Inputs struct{}

// Form is what the names of pipelines look like.
func Form() name.Form {
	return name.Form{Kind: "smooth", Keys: []name.Key{{Key: "iterations", Doc: "times that the image is counted and smoothed", Min: 1, Max: most, Default: 100}}}
}

// of is what is common to questions about an image. The number of iterations is shared.
func of() fields.Of { return fields.Of{Form: Form(), Tail: 8} }

func parse(s string) (iterations int64, image string, err error) {
	values, image, err := Form().Parse(s)
	return values["iterations"], image, err
}

func spell(iterations int64, image string) string {
	return Form().Spell(map[string]int64{"iterations": iterations}, image)
}

// Open makes the pipeline that a name describes.
func (Inputs) Open(name string) (*Pipeline, error) {
	n, image, err := parse(name)
	if err != nil {
		return nil, err
	}
	s, err := fields.Inputs{}.Open(image)
	if err != nil {
		return nil, err
	}
	return &Pipeline{s, n}, nil
}

// Close closes the image.
func (p *Pipeline) Close() error { return grid.Close(p.Source) }

// Variants names pipelines of other images.
func (Inputs) Variants(name string, n int) ([]string, error) { return of().Variants(name, n) }

// Files are what the image is read from.
func (Inputs) Files(name string) []string { return of().Files(name) }

// Smaller names pipelines of fewer iterations, and of smaller images.
func (Inputs) Smaller(name string) []string {
	iterations, image, err := parse(name)
	if err != nil {
		return nil
	}
	var names []string
	if iterations > 1 {
		names = append(names, spell((iterations+1)/2, image), spell(iterations-1, image))
	}
	for _, smaller := range (fields.Inputs{}).Smaller(image) {
		names = append(names, spell(iterations, smaller))
	}
	return names
}

// Cost is one read of the image for each iteration.
func (Inputs) Cost(name string, p *Pipeline) bench.Cost {
	_, image, _ := parse(name) // it was opened by this name
	cost := fields.Inputs{}.Cost(image, p.Source)
	cost.Items, cost.Bytes = cost.Items*p.Iterations, cost.Bytes*p.Iterations
	cost.Class, cost.Size = "smoothed/"+cost.Class, fmt.Sprintf("%sx%d", cost.Size, p.Iterations)
	return cost
}

// Size is that of the image, and the number of iterations after it.
func (Inputs) Size(p *Pipeline) int64 { return of().Size(p.Source) }

// Share writes the image and the number of iterations.
func (Inputs) Share(p *Pipeline, f *os.File) error {
	return of().Share(p.Source, binary.LittleEndian.AppendUint64(nil, uint64(p.Iterations)), f)
}

// Attach makes the pipeline of bytes that Share wrote.
func (Inputs) Attach(mapped []byte) (*Pipeline, error) {
	s, tail, err := of().Attach(mapped)
	if err != nil {
		return nil, err
	}
	return &Pipeline{s, int64(binary.LittleEndian.Uint64(tail))}, nil
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
