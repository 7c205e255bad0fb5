// Package tally is a question: how many voxels of an image are on each level?
package tally

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
)

// Name is the name of the workload, in records too.
const Name = "tally"

// Workload is the question, put to the given implementations; the first answers by
// the definition.
func Workload(list ...bench.Implementation[grid.Source, []int64]) bench.Workload[grid.Source, []int64] {
	return bench.Workload[grid.Source, []int64]{
		Name: Name,
		Question: bench.Question{
			Doc:         "how many voxels of an image are on each level",
			Adversarial: []string{"noise/shape=1x1/type=uint8", "noise/shape=31x17x13/type=float32", "distinct/shape=16x15x14/type=float32"},
			Small:       []string{"noise/shape=64x64x64/levels=1024/type=float32/seed=1"},
		},
		Inputs:    fields.Inputs{}, // images, from the names that package datasets reads
		Impls:     list,
		Reference: list[0].About().Name,
		Policy:    Policy(),
		Encode:    encode,
		Decode:    decode,
	}
}

// Policy says when an answer is right.
func Policy() verify.Policy[grid.Source, []int64] {
	return verify.Policy[grid.Source, []int64]{
		Agree: agree,
		Laws: []verify.Law[grid.Source, []int64]{
			{Name: "as many as there are voxels", Check: addsUp},
			{Name: "voxels of the first level", Independent: true, Work: reading, Check: firstLevel},
		},
		Weak: func(_ grid.Source, out []int64) string {
			if len(out) < 2 {
				return "the image has one level, which says where all voxels are"
			}
			return ""
		},
	}
}

// agree is the first level of which two answers say something else.
func agree(_ grid.Source, want, got []int64) *verify.Diff {
	if len(want) != len(got) {
		return &verify.Diff{Where: "levels", Want: fmt.Sprint(len(want)), Got: fmt.Sprint(len(got))}
	}
	for i := range want {
		if want[i] != got[i] {
			return &verify.Diff{Where: fmt.Sprintf("level %d", i), Want: fmt.Sprint(want[i]), Got: fmt.Sprint(got[i])}
		}
	}
	return nil
}

// addsUp is a law that a wrong answer may keep: it is not independent.
func addsUp(in grid.Source, out []int64, _ verify.Ask[grid.Source, []int64]) (*verify.Diff, error) {
	var sum int64
	for _, n := range out {
		sum += n
	}
	if want := in.Shape().Voxels(); sum != want {
		return &verify.Diff{Where: "sum", Want: fmt.Sprint(want), Got: fmt.Sprint(sum)}, nil
	}
	return nil, nil
}

// firstLevel looks at the image by means of its own, so it may be a witness.
func firstLevel(in grid.Source, out []int64, _ verify.Ask[grid.Source, []int64]) (*verify.Diff, error) {
	convert, levels := grid.NewConverter(in.Type(), in.Ladder()), make([]int32, in.Shape().SliceVoxels())
	slice, want := grid.NewBuffer(grid.SliceBytes(in)), int64(0)
	for z := range in.Shape().Slices() {
		if err := in.ReadSlab(slice, z, z+1); err != nil {
			return nil, err // not tried
		}
		convert.Convert(levels, slice)
		for _, l := range levels {
			if l == 0 {
				want++
			}
		}
	}
	return agree(in, []int64{want}, out[:min(1, len(out))]), nil
}

// reading estimates what firstLevel takes.
func reading(in grid.Source) time.Duration {
	return time.Duration(in.Shape().Voxels()*5) * time.Nanosecond
}

// encode writes equal answers as equal bytes, and decode is its inverse.
func encode(w io.Writer, out []int64) error { return binary.Write(w, binary.LittleEndian, out) }

func decode(b []byte) ([]int64, error) {
	if len(b)%8 != 0 {
		return nil, errors.New("malformed tally")
	}
	out := make([]int64, len(b)/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out, nil
}
