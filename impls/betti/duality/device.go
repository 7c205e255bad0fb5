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
	"eccbench/internal/workloads/ecc/cells"
)

// OnDevice runs the method on an NVIDIA device (kernels/betti/duality.h). It joins the bits of a
// tile in shared memory, and then voxels of neighbouring tiles at their faces.
func OnDevice(open resident.Opener) bench.Implementation[*betti.Image, betti.Numbers] {
	return counting.Method[*betti.Image, betti.Numbers]{
		Name: "duality-gpu", Open: open, Plan: plan, Read: betti.Read, Poisoned: betti.Poisoned,
		Method: "resident image; union-find of runs of bits, in tiles in shared memory, then at their faces; b1 " +
			"from χ of the same bits",
		Source: "doc/proofs/betti.md, Delfinado and Edelsbrunner 1995",
	}
}

// Sizes of the kernels' work (kernels/betti/duality.h).
const (
	tileWords     = 1024 // words of 64 voxels of a row
	packRows      = 32   // rows per warp
	packBlock     = 256  // threads
	setBlock      = 256
	aroundBlock   = 512
	seamBlock     = 128
	cutBlock      = 256
	seamBytes     = 4 + 8*2000
	queueBytes    = 256 // bytes per warp
	bundleNodes   = 32
	shadow        = 4 // bytes per node
	mostAxis      = math.MaxInt32 / 8
	flatPlanes    = 2 // planes of a tile of a flat image
	deepPlanes    = 32
	flatFaceNodes = 2*32 + 2*256
	deepFaceNodes = 2*32*16 + 2*32*16 + 2*256
	aroundNodes   = 2*32*32 + 2*32*32 + 2*1024
)

// tiling divides an image into tiles.
type tiling struct {
	d, h, w    int64
	tz, ty, tx int64
	planes     int64 // planes per tile
	hollow     bool  // whether cavities are possible
	rows       bool  // whether slices of the image are rows of its only plane

	first, last bool // whether the image continues before the first slice, and after the last slice, of a part
}

func tile(s grid.Shape) tiling {
	t := tiling{planes: deepPlanes}
	t.d, t.h, t.w = cells.Stack(s)
	if t.h == 1 { // planes of one row become the rows of one plane
		t.d, t.h, t.rows = 1, t.d, true
	}
	if t.d <= flatPlanes {
		t.planes = flatPlanes
	}
	t.hollow = min(t.d, t.h, t.w) > 2
	return t.cut()
}

// cut sets the number of tiles along each axis.
func (t tiling) cut() tiling {
	t.tz, t.ty, t.tx = grid.CeilDiv(t.d, t.planes), grid.CeilDiv(t.h, tileWords/t.planes), words(t.w)
	return t
}

func (t tiling) tiles() int64 { return t.tz * t.ty * t.tx }

// faceNodes returns the number of nodes at the faces of a tile.
func (t tiling) faceNodes() int64 {
	switch {
	case t.hollow:
		return aroundNodes
	case t.planes == flatPlanes:
		return flatFaceNodes
	}
	return deepFaceNodes
}

func (t tiling) bitBytes() int64  { return 8 * tileWords * t.tiles() }
func (t tiling) nodeBytes() int64 { return shadow * (1 + t.tiles()*t.faceNodes()) }

// OpenBatch loads the kernels for images of other programs, at some thresholds. If `above`, sets have the voxels
// above a threshold, not those up to it.
func OpenBatch(d device.Guest, s grid.Shape, typ grid.Type, thresholds []float32, above bool) (*counting.Batch, error) {
	p, err := tile(s).planOf(s, typ, counting.Limits(typ, thresholds...))
	if err != nil {
		return nil, err
	}
	p.Answer, p.Numbers = 3, func(counts, answer device.Buffer) counting.Launch {
		return counting.Launch{Kernel: "betti_numbers", Blocks: 1, Threads: 32, Args: []any{counts, answer}}
	}
	return counting.OpenBatch(d, p, s.Voxels()*typ.Size(), int64(len(thresholds)), above)
}

func plan(in *betti.Image) (counting.Plan, error) { return tile(in.Shape()).plan(in) }

func (t tiling) plan(in *betti.Image) (counting.Plan, error) {
	return t.planOf(in.Shape(), in.Type(), counting.Limits(in.Type(), in.Threshold))
}

// planOf rejects images that exceed the kernels' integers.
func (t tiling) planOf(s grid.Shape, typ grid.Type, limits counting.Table) (counting.Plan, error) {
	if max(t.d, t.h, t.w) > mostAxis {
		return counting.Plan{}, fmt.Errorf("%v: an axis exceeds the kernels' limit of %d; use duality, on the CPU",
			s, mostAxis)
	}
	if places := t.places(true); places > math.MaxInt32 {
		return counting.Plan{}, fmt.Errorf("%v: slices that several devices share have room for %d runs, and the kernels "+
			"support at most %d; use duality-gpu or duality", s, places, math.MaxInt32)
	}
	most := math.MaxUint32 - 1 - t.places(true) // run numbers follow the node numbers
	if nodes := t.tiles() * t.faceNodes(); nodes > most {
		return counting.Plan{}, fmt.Errorf("%v: %d nodes at the faces of tiles, and the kernels support at most %d; use "+
			"duality, on the CPU", s, nodes, most)
	}
	p := counting.Plan{
		Module: "betti_duality", What: "the resident image with its bits and the nodes of tiles", Counts: counting.SumCounts,
		Tables: []counting.Table{limits}, Words: typ == grid.Uint8,
		Scratch:  []counting.Scratch{{Name: "bits", Bytes: t.bitBytes()}, {Name: "nodes of tiles", Bytes: t.nodeBytes()}},
		Launches: func(m counting.Memory) []counting.Launch { return t.launches(typ, m) },
	}
	if t.shared() > 0 {
		p.Scratch, p.Bring = append(p.Scratch, counting.Scratch{Name: "runs of the set in shared slices",
			Bytes: shadow * t.places(false)}), []int{2}
		if t.hollow {
			p.Scratch, p.Bring = append(p.Scratch, counting.Scratch{Name: "runs around it in shared slices",
				Bytes: shadow * t.places(true)}), []int{2, 3}
		}
	}
	return p, nil
}

// shared returns the number of slices that the part shares with other parts.
func (t tiling) shared() (n int64) {
	for _, has := range []bool{t.first, t.last} {
		if has {
			n++
		}
	}
	return n
}

// places returns the maximum number of runs in all shared slices. Runs of the set have places for
// two rows together; runs of the background, and of a flat image, have places for each row.
func (t tiling) places(around bool) int64 {
	rows := t.h
	switch {
	case t.rows:
		rows = 1
	case !around:
		rows = grid.CeilDiv(rows, 2)
	}
	return t.shared() * rows * t.tx * bundleNodes
}

func (t tiling) launches(typ grid.Type, m counting.Memory) []counting.Launch {
	flat := ""
	if t.planes == flatPlanes {
		flat = "_flat"
	}
	w, h, d := int32(t.w), int32(t.h), int32(t.d)
	bits := m.Scratch[0]
	apart := t.nodeBytes() / shadow
	parameters := []any{bits, w, h, d, m.Scratch[1], apart, m.Counts}
	queues := func(threads int64) int64 { return threads / 32 * queueBytes }
	parents := func(bundles int64) int64 { return (bundles*bundleNodes + 4) / 2 * 4 }
	rows := t.tz * t.planes * t.ty * (tileWords / t.planes / packRows) * t.tx
	ends := int32(0)
	if t.first {
		ends |= 1
	}
	if t.last {
		ends |= 2
	}
	// cut returns the kernels that label the joined runs of shared slices.
	cut := func(kernel string, around bool, more ...any) []counting.Launch {
		places := t.places(around)
		if places == 0 {
			return nil
		}
		runs := m.Scratch[2]
		if around {
			runs = m.Scratch[3]
		}
		blocks := grid.CeilDiv(places, cutBlock)
		return []counting.Launch{
			{Kernel: kernel, Blocks: blocks, Threads: cutBlock,
				Args: append([]any{bits, w, h, d, ends, m.Scratch[1], runs}, more...)},
			{Kernel: "betti_settle", Blocks: blocks, Threads: cutBlock, Args: []any{m.Scratch[1], runs, int32(places)}},
		}
	}
	list := []counting.Launch{
		{Kernel: fmt.Sprintf("betti_pack%s_%v", flat, typ), Blocks: (rows*32 + packBlock - 1) / packBlock, Threads: packBlock,
			Args: append(m.Arguments(t.w, t.h, t.d), bits)},
		{Kernel: "betti_foreground" + flat, Blocks: t.tiles(), Threads: setBlock,
			Shared: parents(tileWords/4) + queues(setBlock), Args: parameters},
		{Kernel: "betti_foreground_seams" + flat, Blocks: t.tiles(), Threads: seamBlock, Shared: seamBytes, Args: parameters},
	}
	list = append(list, cut("betti_cut_set"+flat, false, m.Counts)...)
	if t.hollow {
		list = append(list,
			counting.Launch{Kernel: "betti_background", Blocks: t.tiles(), Threads: aroundBlock,
				Shared: parents(tileWords) + queues(aroundBlock), Args: []any{bits, w, h, d, ends, m.Scratch[1], apart, m.Counts}},
			counting.Launch{Kernel: "betti_background_seams", Blocks: t.tiles(), Threads: seamBlock, Shared: seamBytes,
				Args: parameters})
		list = append(list, cut("betti_cut_rest", true)...)
	}
	return list
}
