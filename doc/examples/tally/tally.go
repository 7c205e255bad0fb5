// Package tally defines a question: the number of voxels of an image on each level.
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

// Workload returns the question for some implementations. The first one is the definition.
func Workload(list ...bench.Implementation[grid.Source, []int64]) bench.Workload[grid.Source, []int64] {
	return bench.Workload[grid.Source, []int64]{
		Name: Name,
		Question: bench.Question{
			Doc:         "the number of voxels of an image on each level",
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

// Policy returns the comparison of two answers, and the laws of every right answer.
func Policy() verify.Policy[grid.Source, []int64] {
	return verify.Policy[grid.Source, []int64]{
		Agree: agree,
		Laws: []verify.Law[grid.Source, []int64]{
			{Name: "counts sum to the number of voxels", Check: addsUp},
			{Name: "voxels of the first level", Independent: true, Work: reading, Check: firstLevel},
		},
		Weak: func(_ grid.Source, out []int64) string {
			if len(out) < 2 {
				return "the image has one level, so the size is the answer"
			}
			return ""
		},
	}
}

// agree returns the first level at which two answers differ, or nil.
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

// addsUp checks the sum. Wrong answers may satisfy it, so it is not independent.
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

// firstLevel counts the first level without the implementation's code, so it may be a witness.
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

// reading estimates the time of firstLevel.
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
