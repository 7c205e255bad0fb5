package ecc

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc/cells"
)

// Policy decides whether a VCEC is right: by closed forms, by comparing all nonzero steps, and by
// the laws.
func Policy() verify.Policy[grid.Source, VCEC] {
	return verify.Policy[grid.Source, VCEC]{
		Agree: first,
		Known: KnownCurve,
		Laws:  Laws(),
		Weak:  weak,
	}
}

// weak returns a reason if a wrong program could easily give the answer, or "".
func weak(in grid.Source, out VCEC) string {
	if len(out) < 2 {
		return fmt.Sprintf("the curve has %d steps, which a program that ignores its input could answer", len(out))
	}
	return ""
}

// first returns the lowest level at which two answers differ, or nil if they agree.
func first(in grid.Source, want, got VCEC) *verify.Diff {
	for i := 0; i < len(want) || i < len(got); i++ {
		switch {
		case i >= len(got) || i < len(want) && want[i].Level < got[i].Level:
			return atLevel(in, want[i].Level, "a change of %+d", want[i].Change, 0)
		case i >= len(want) || got[i].Level < want[i].Level:
			return atLevel(in, got[i].Level, "a change of %+d", 0, got[i].Change)
		case want[i].Change != got[i].Change:
			return atLevel(in, want[i].Level, "a change of %+d", want[i].Change, got[i].Change)
		}
	}
	return nil
}

func fromMap(changes map[int64]int64) VCEC {
	v := VCEC{}
	for _, level := range slices.Sorted(maps.Keys(changes)) {
		if changes[level] != 0 {
			v = append(v, Step{level, changes[level]})
		}
	}
	return v
}

func atLevel(in grid.Source, level int64, format string, want, got int64) *verify.Diff {
	d := &verify.Diff{Where: fmt.Sprintf("level %d", level), Want: fmt.Sprintf(format, want),
		Got: fmt.Sprintf(format, got)}
	if level >= 0 && level < in.Ladder().Len() {
		d.Where = fmt.Sprintf("level %d (value %v)", level, in.Ladder().Value(level))
	}
	d.Context = neighbourhood(in, level)
	return d
}

var errFound = errors.New("found")

// neighbourhood shows the first voxel on a level and the voxels around it, as levels. "." is
// outside the image.
func neighbourhood(in grid.Source, level int64) string {
	if !in.Ladder().Indexed() {
		return "levels of float32 values are not shown"
	}
	n, h, w := cells.Stack(in.Shape())
	convert := grid.NewConverter(in.Type(), in.Ladder())
	at := int64(-1)
	var levels []int32
	err := grid.EachSlab(in, func(slab []byte, lo, hi int64) error {
		const chunk = 1 << 16
		size := in.Type().Size()
		if levels == nil {
			levels = make([]int32, chunk)
		}
		for i := int64(0); i < int64(len(slab))/size; i += chunk {
			part := slab[i*size : min((i+chunk)*size, int64(len(slab)))]
			convert.Convert(levels, part)
			if j := slices.Index(levels[:int64(len(part))/size], int32(level)); j >= 0 {
				at = lo*h*w + i + int64(j)
				return errFound
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return "cannot read the neighbourhood: " + err.Error()
	}
	if at < 0 {
		return "no voxel stands on this level"
	}
	z, y, x := at/(h*w), at/w%h, at%w
	var b strings.Builder
	iz, iy, ix := in.Shape().Coordinates(at)
	fmt.Fprintf(&b, "levels around the first voxel on it, z %d y %d x %d:", iz, iy, ix)
	plane, row := grid.NewBuffer(grid.SliceBytes(in)), make([]int32, h*w)
	for dz := max(0, z-1); dz <= min(n-1, z+1); dz++ {
		if err := in.ReadSlab(plane, dz, dz+1); err != nil {
			return "cannot read the neighbourhood: " + err.Error()
		}
		convert.Convert(row, plane)
		b.WriteString("\n ")
		for dy := y - 1; dy <= y+1; dy++ {
			for dx := x - 1; dx <= x+1; dx++ {
				if dy < 0 || dy >= h || dx < 0 || dx >= w {
					b.WriteString(" .")
					continue
				}
				fmt.Fprintf(&b, " %d", row[dy*w+dx])
			}
			if dy <= y {
				b.WriteString(" /")
			}
		}
	}
	return b.String()
}
