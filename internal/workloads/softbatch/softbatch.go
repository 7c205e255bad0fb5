// Package softbatch is the workload of the soft curves of many images, as a layer of a network has them: all images
// have one shape and the same parameters, and each has a curve and gradients of its own.
package softbatch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/name"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/batch"
	"eccbench/internal/workloads/softecc"
)

// Name is the name of the workload.
const Name = softecc.Name + "-batch"

type (
	problem = *softecc.Batch
	answers = []softecc.Answer
	ask     = verify.Ask[problem, answers]
	law     = verify.Law[problem, answers]
)

// Workload returns the workload with some implementations; the first is the definition.
func Workload(impls ...bench.Implementation[problem, answers]) bench.Workload[problem, answers] {
	return bench.Workload[problem, answers]{
		Name: Name, Question: question(), Inputs: Inputs{}, Impls: impls, Encode: Encode, Decode: Decode,
		Reference: bench.NameOfFirst(impls), Policy: policy(),
	}
}

func question() bench.Question {
	of := func(count, m, lambda, alpha float64, image string) string {
		return questions().NameOf(image, count, m, lambda, alpha, 1)
	}
	return bench.Question{
		Doc:  "the soft curve of each of many images, and its gradients, all at once",
		Form: questions().Form,
		Adversarial: []string{
			of(1, 5, 100, 0.1, "noise/shape=1x1/type=float32/seed=5"),
			of(67, 16, 100, 0, "noise/shape=28x28/type=float32/seed=3"),
			of(5, 64, 1000, 0.1, "noise/shape=133x70/levels=64/type=float32/seed=5"),
			of(9, 16, 100, 0.1, "noise/shape=17x16x15/type=float32/seed=7"),
			of(3, 33, 300, 0, "grf/shape=33x17x9/type=float32/smooth=2/seed=3"),
			of(4, 9, 20, 5, "distinct/shape=16x15x14/type=float32/seed=11"),
			of(300, 7, 50, 0.1, "noise/shape=1x9/levels=4/type=float32/seed=4"),
		},
		Small: []string{
			of(256, 16, 100, 0, "noise/shape=28x28/type=float32/seed=1"),
			of(64, 64, 100, 0, "noise/shape=256x256/type=float32/seed=1"),
			of(4, 16, 100, 0.1, "grf/shape=64x64x64/type=float32/smooth=2/seed=1"),
		},
	}
}

// questions names problems by a count and the keys of one image, and shares them.
func questions() *fields.Questions[problem] {
	return &fields.Questions[problem]{
		Form: name.Form{Kind: Name, Keys: append(slices.Clone(batch.Form().Keys), softecc.Inputs().Form.Keys...)},
		Pose: func(in grid.Source, keys []float64) (problem, error) {
			whole := grid.Batch{Source: in, Images: int64(keys[0])}
			if in.Shape().D%whole.Images != 0 {
				return nil, fmt.Errorf("shared batch: %d images of %v together", whole.Images, in.Shape())
			}
			first, ok := whole.FieldAt(0)
			if !ok {
				return nil, errors.New("shared batch: not in memory")
			}
			return pose(first, whole, keys)
		},
	}
}

// split returns the keys of a problem and the name of its images.
func split(s string) (keys []float64, images string, err error) {
	image, keys, err := questions().Parse(s)
	if err != nil {
		return nil, "", err
	}
	return keys, batch.NameOf(int(keys[0]), image), nil
}

// Inputs makes problems from names softecc-batch/count=N/m=N/lambda=N/alpha=N/dir=N/of=IMAGE: the image, and images
// with the following seeds.
type Inputs struct{}

// Open makes the problem that a name describes.
func (Inputs) Open(s string) (problem, error) {
	keys, images, err := split(s)
	if err != nil {
		return nil, err
	}
	b, err := batch.Inputs{}.Open(images)
	if err != nil {
		return nil, err
	}
	return pose(b.First(), b.Whole(), keys)
}

// Sketch is a problem that has its first image alone, again and again.
func (Inputs) Sketch(s string) (problem, bool) {
	keys, images, err := split(s)
	if err != nil {
		return nil, false
	}
	b, ok := batch.Inputs{}.Sketch(images)
	if !ok {
		return nil, false
	}
	p, err := pose(b.First(), b.Whole(), keys)
	return p, err == nil
}

func pose(first grid.Source, whole grid.Batch, keys []float64) (problem, error) {
	p, err := softecc.Inputs().Pose(first, keys[1:])
	return &softecc.Batch{Problem: p, Images: whole}, err
}

// others returns the problems about batches with other names.
func others(s string, list func(images string) ([]string, error)) ([]string, error) {
	keys, images, err := split(s)
	if err != nil {
		return nil, err
	}
	names, err := list(images)
	for i, one := range names {
		values, image, err := batch.Form().Parse(one)
		if err != nil {
			return nil, err
		}
		names[i] = questions().NameOf(image, append([]float64{values["count"]}, keys[1:]...)...)
	}
	return names, err
}

// Variants names problems of images that no other has.
func (Inputs) Variants(s string, n int) ([]string, error) {
	return others(s, func(images string) ([]string, error) { return batch.Inputs{}.Variants(images, n) })
}

// Smaller names problems of fewer images.
func (Inputs) Smaller(s string) []string {
	names, _ := others(s, func(images string) ([]string, error) { return batch.Inputs{}.Smaller(images), nil })
	return names
}

// Files returns the files of the images.
func (Inputs) Files(s string) []string {
	_, images, _ := split(s)
	return batch.Inputs{}.Files(images)
}

// Cost is one read of all images and one write of their gradients.
func (Inputs) Cost(s string, p problem) bench.Cost {
	image, keys, _ := questions().Parse(s) // it was opened by this name
	cost := softecc.Inputs().Cost(softecc.Inputs().NameOf(image, keys[1:]...), p.Problem)
	cost.Items *= p.Len()
	cost.Bytes *= p.Len()
	cost.Size = fmt.Sprintf("%vx%d", p.Shape(), p.Len())
	return cost
}

// Size is the number of bytes that Share writes.
func (Inputs) Size(p problem) int64 { return questions().Size(p) }

// Share writes all images, one after the other, and the keys.
func (Inputs) Share(p problem, f *os.File) error { return questions().Share(p, f) }

// Attach makes the problem of bytes that Share wrote.
func (Inputs) Attach(mapped []byte) (problem, error) { return questions().Attach(mapped) }

// Encode writes the number of images and their answers.
func Encode(w io.Writer, list answers) error {
	if err := binary.Write(w, binary.LittleEndian, uint64(len(list))); err != nil {
		return err
	}
	for _, a := range list {
		if err := softecc.Encode(w, a); err != nil {
			return err
		}
	}
	return nil
}

// Decode is the inverse of Encode, for answers of one size.
func Decode(b []byte) (list answers, err error) {
	if len(b) < 8 {
		return nil, errors.New("malformed answers")
	}
	n := binary.LittleEndian.Uint64(b)
	if b = b[8:]; n == 0 || n > uint64(len(b)) || uint64(len(b))%n != 0 {
		return nil, errors.New("malformed answers")
	}
	for one := range slices.Chunk(b, len(b)/int(n)) {
		a, err := softecc.Decode(one)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}
