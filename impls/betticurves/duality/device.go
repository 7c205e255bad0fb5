package duality

import (
	"fmt"
	"math"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

// OnDevice runs the method on an NVIDIA device (kernels/betti/curves.h). The image is one box, and
// edges come in any order, because the forest of minima accepts them unsorted.
func OnDevice(open resident.Opener) bench.Implementation[grid.Source, betti.Curves] {
	return counting.Method[grid.Source, betti.Curves]{
		Name: "duality-gpu", Open: open, Plan: plan, Read: read, Poisoned: betti.PoisonedCurves,
		Method: "resident image; minima, saddles and changes of χ in words of bits; a minimum spanning forest " +
			"of minima by compare-and-swap",
		Source: "doc/proofs/betti.md, Delfinado and Edelsbrunner 1995, Smirnov and Morozov 2017",
	}
}

// Sizes of the kernels' work (kernels/betti/curves.h).
const (
	wordVoxels    = 32
	places        = 13 // number of earlier neighbours
	mostMinima    = 16 // per word
	deviceBlock   = 256
	joinBlock     = 128
	mostBlocks    = 1 << 12
	numbersBlock  = 256
	joinBlocks    = 1 << 11 // warps of these blocks take words in turn
	turns         = 2       // counters of such turns
	mostOfBlock   = 1 << 27 // voxels whose changes a 32-bit counter can count
	joinBytes     = 32 * 64 // per warp
	stepBytes     = 8 * 55  // bytes of descents and of distances to places
	mostOnDevice  = 1<<16 - 1
	sideBySide    = 32 // words of lists that are side by side
	wordLists     = 4  // lists of words of bits, in addition to lists of places
	listsOfCounts = 3  // of χ, minima and maxima
)

// deviceKey returns the type of the keys, and whether they are the image's values.
func deviceKey(in grid.Source) (key grid.Type, same bool) {
	if in.Type() == grid.Uint8 && identical(in) {
		return grid.Uint8, true
	}
	return keyType(in.Ladder().Len()), false
}

// keyType returns the type of keys that are not the image's values.
func keyType(levels int64) grid.Type {
	if levels < 1<<8 {
		return grid.Uint8
	}
	return grid.Uint16
}

// plan rejects an image with more levels or voxels than the kernels count.
func plan(in grid.Source) (counting.Plan, error) {
	l := in.Ladder()
	k := keys{levels: l.Len()}
	if !l.Indexed() || k.levels > mostOnDevice {
		return counting.Plan{}, tooMany(k.levels)
	}
	var same bool
	if k.typ, same = deviceKey(in); !same {
		for i := range k.levels {
			k.values = append(k.values, l.Value(i))
		}
	}
	return k.plan(in.Shape(), in.Type())
}

func tooMany(levels int64) error {
	return fmt.Errorf("%d levels: the kernels count at most %d; use duality, on the CPU", levels, mostOnDevice)
}

// OpenBatch loads the kernels for images of other programs. Answers are the Betti numbers of the sets up to each
// ascending value, or, if `above`, of those above each value, the greatest value first. No values mean 0 to 255 for
// uint8.
func OpenBatch(d device.Guest, s grid.Shape, t grid.Type, values []float32, above bool) (*counting.Batch, error) {
	rows := int64(len(values))
	k := keys{typ: keyType(rows + 1), values: values, levels: rows + 1, above: above}
	switch {
	case rows == 0:
		if t != grid.Uint8 || above {
			return nil, fmt.Errorf("%v: the values of the sets are missing", t)
		}
		rows = 1 << 8
		k.typ, k.levels = t, rows
	case k.levels > mostOnDevice:
		return nil, tooMany(k.levels)
	}
	p, err := k.plan(s, t)
	if err != nil {
		return nil, err
	}
	p.Answer = 3 * rows
	p.Numbers = func(counts, answer device.Buffer) counting.Launch {
		return counting.Launch{Kernel: "betti_curve_numbers", Blocks: 1, Threads: numbersBlock,
			Args: []any{counts, int32(k.levels), int32(rows), answer}}
	}
	return counting.OpenBatch(d, p, s.Voxels()*t.Size(), 1, false)
}

// keys are the levels of voxels on the device: the number of values below a voxel's value or, if `above`, the number of
// the other values. Without values, they are the image.
type keys struct {
	typ    grid.Type
	values []float32
	levels int64
	above  bool
}

// listWords returns the number of words of the lists of an image's voxels.
func listWords(s grid.Shape) int64 {
	d, h, w := cells.Stack(s)
	return (d*h*((w+wordVoxels-1)/wordVoxels) + sideBySide - 1) / sideBySide * sideBySide
}

func (k keys) plan(s grid.Shape, t grid.Type) (counting.Plan, error) {
	d, h, w := cells.Stack(s)
	words := listWords(s)
	if max(d, h, w) > math.MaxInt32/2 || words*mostMinima > math.MaxUint32-2 {
		return counting.Plan{}, fmt.Errorf("%v: %d places of minima, and the kernels support at most %d; use duality, on "+
			"the CPU", s, words*mostMinima, uint32(math.MaxUint32-2))
	}
	p := counting.Plan{
		Module: "betti_curves", What: "the resident image with its bits and the edges of minima",
		Counts: listsOfCounts * (k.levels + 1),
		Scratch: []counting.Scratch{
			{Name: "neighbours not above", Bytes: 4 * places * words}, {Name: "where voxels descend to", Bytes: 4 * 12 * words},
			{Name: "saddles and minima", Bytes: 4 * wordLists * words},
			{Name: "edges of minima", Bytes: 8 * (1 + words*mostMinima)}, {Name: "known minima", Bytes: 4 * (words + turns)},
		},
	}
	if k.values != nil {
		levels := counting.Table{Name: "levels"}
		for _, v := range k.values {
			levels.Numbers = append(levels.Numbers, math.Float32bits(v))
		}
		p.Tables = []counting.Table{levels}
		bytes := (s.Voxels()*k.typ.Size() + 15) / 16 * 16
		p.Scratch = append(p.Scratch, counting.Scratch{Name: "levels of voxels", Bytes: bytes})
	}
	p.Launches = func(m counting.Memory) []counting.Launch { return k.launches(s, t, p.Counts, m) }
	return p, nil
}

// launches returns the kernels that count the changes of an image.
func (k keys) launches(s grid.Shape, t grid.Type, counts int64, m counting.Memory) (list []counting.Launch) {
	d, h, w := cells.Stack(s)
	words := listWords(s)
	most := int64(mostBlocks)
	launch := func(name string, items, block, shared int64, args ...any) {
		blocks := max(min((items+block-1)/block, most), s.Voxels()/mostOfBlock+1)
		list = append(list, counting.Launch{Kernel: name, Blocks: blocks, Threads: block, Shared: shared, Args: args})
	}
	keys := m.Image
	if k.values != nil {
		keys = m.Scratch[5]
		voxels := s.Voxels() * m.Questions
		launch(fmt.Sprintf("betti_keys_%v_%v", t, k.typ), voxels, deviceBlock, 0,
			m.Image, voxels, m.Tables[0], int32(len(k.values)), device.Flag(k.above), keys)
		list[0].Together = true
	}
	before, numbers, lists, edges, known := m.Scratch[0], m.Scratch[1], m.Scratch[2], m.Scratch[3], m.Scratch[4]
	of := func(args ...any) []any { return append([]any{keys, int32(w), int32(h), int32(d)}, args...) }
	kernel := func(what string) string { return fmt.Sprintf("betti_%s_%v", what, k.typ) }
	kept := int64(0)
	if k.typ == grid.Uint8 {
		kept = 4 * counts
	}
	list = append(list, counting.Launch{Kernel: kernel("compare"), Blocks: (words + deviceBlock - 1) / deviceBlock,
		Threads: deviceBlock, Args: of(before)})
	shapes := []string{"", "_around"}
	if min(d, h, w) <= 2 { // every voxel is at a side
		shapes = []string{"_flat"}
	}
	levels := int32(k.levels)
	launch(kernel("scan"+shapes[0]), words, joinBlock, kept, of(before, numbers, lists, edges, known, levels, m.Counts)...)
	for _, shape := range shapes {
		most = joinBlocks
		launch(kernel("join"+shape), words, joinBlock, joinBlock/32*joinBytes+stepBytes+kept/listsOfCounts,
			of(numbers, lists, edges, known, levels, m.Counts)...)
		most = mostBlocks
		launch(kernel("deaths"+shape), words, deviceBlock, kept/listsOfCounts, of(lists, edges, known, levels, m.Counts)...)
	}
	return list
}

// read makes curves from the changes of χ, of the number of components, and of that of the
// background.
func read(in grid.Source, counts []int64) betti.Curves {
	levels := in.Ladder().Len()
	var lists [listsOfCounts]ecc.VCEC
	for i := range lists {
		of := counts[int64(i)*(levels+1):][:levels]
		for k, change := range of {
			if i == 2 { // a component that the set gains, the background loses
				change = -change
			}
			if change != 0 {
				lists[i] = append(lists[i], ecc.Step{Level: int64(k), Change: change})
			}
		}
	}
	return betti.Joined(lists[1], lists[2], lists[0])
}
