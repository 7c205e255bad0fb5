package gpu

import (
	"fmt"
	"math"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/gvf"
)

// The blocks of plain steps.
const (
	plainWarps  = 4
	plainPlanes = 16 // that a block processes
)

// suffix returns the suffix of the names of kernels that store a field in 16 bits.
func suffix(p *gvf.Problem) string {
	if p.Storage == gvf.Float32 {
		return ""
	}
	return "_" + p.Storage.String()
}

// globally plans steps with four voxels per thread if rows are multiples of four, else with one.
func globally(p *gvf.Problem, _ device.Info, steps int64) []pass {
	s, kernel := p.Shape(), fmt.Sprintf("gvf_global_%dd%s", p.Dim(), suffix(p))
	if s.W%4 != 0 {
		return byVoxel(kernel+"_unaligned", s, steps)
	}
	blocks := grid.CeilDiv(s.W, 128) * grid.CeilDiv(s.H, plainWarps) * grid.CeilDiv(s.D, plainPlanes)
	return []pass{{module: "gvf_plain", kernel: kernel, launch: launch(blocks, plainWarps, 0), count: steps,
		length: plainPlanes}}
}

func textured(p *gvf.Problem, _ device.Info, steps int64) []pass {
	return byVoxel(fmt.Sprintf("gvf_texture_%dd%s", p.Dim(), suffix(p)), p.Shape(), steps)
}

// The tiles for shared memory (kernels/gvf/gvf_plain.cu) have a border of one voxel.
const sharedWarps = 8

// shared plans steps with shared memory, by kernels with a prefix.
func shared(prefix string) func(*gvf.Problem, device.Info, int64) []pass {
	return func(p *gvf.Problem, _ device.Info, steps int64) []pass {
		s, side, deep := p.Shape(), int64(14), int64(1)
		if p.Dim() == 3 {
			side, deep = 6, 2
		}
		blocks := grid.CeilDiv(s.W, side) * grid.CeilDiv(s.H, side) * grid.CeilDiv(s.D, deep)
		return []pass{{module: "gvf_plain", kernel: fmt.Sprintf("%s_%dd%s", prefix, p.Dim(), suffix(p)),
			launch: launch(blocks, sharedWarps, 0), count: steps}}
	}
}

func byVoxel(kernel string, s grid.Shape, steps int64) []pass {
	return []pass{{module: "gvf_plain", kernel: kernel,
		launch: launch(grid.CeilDiv(grid.CeilDiv(s.W, 32)*s.H*s.D, plainWarps), plainWarps, 0), count: steps}}
}

func launch(blocks, warps, shared int64) device.Launch {
	return device.Launch{Grid: device.Dim{X: blocks}, Block: device.Dim{X: 32 * warps}, Shared: shared}
}

// The tiles of several steps (kernels/gvf/blocked_3d.h, blocked_2d.h): columns per block with a
// margin, rows per warp, and columns per warp for a 2D image.
const (
	tileColumns, rowsOfWarp, margin = 64, 4, 4
	ahead                           = 2 // planes that copies are ahead
	// Maximum number of planes of a run. In longer runs tiles drift apart, until the data that one
	// has read is no longer cached when its neighbour needs it.
	longest = 192

	stripColumns = 128
)

// tileWarps returns the number of warps per block for a volume.
func tileWarps(p *gvf.Problem) int64 {
	if p.Storage == gvf.Float32 {
		return 11
	}
	return 12
}

// The tiles of an image that fits into registers (kernels/gvf/gvf_resident.cu), one per block.
const residentTile, residentWarps, residentSteps = 64, 8, 8

// tilesOf returns the number of tiles of such an image, or 0 for any other image.
func tilesOf(p *gvf.Problem, d device.Info) int64 {
	s := p.Shape()
	n := 2 * (s.W / residentTile) * (s.H / residentTile)
	if p.Storage != gvf.Float32 || s.Dim() == 3 || s.W%residentTile != 0 || s.H%residentTile != 0 || n > int64(d.SMs) {
		return 0
	}
	return n
}

// exchangeBytes returns the size of the buffer through which blocks of such an image exchange
// pixels.
func exchangeBytes(p *gvf.Problem, d device.Info) int64 {
	return 2 * 8 * tilesOf(p, d) * residentTile * residentTile
}

// blocked plans several steps per pass: all steps if registers can store the image, else as many as
// the kernels support.
func blocked(p *gvf.Problem, d device.Info, steps int64) (list []pass) {
	if n := tilesOf(p, d); n > 0 {
		return []pass{{module: "gvf_resident", kernel: "gvf_resident", launch: launch(n, residentWarps, 0), count: 1,
			readsB: true, steps: steps}}
	}
	return planPasses(p, d, steps)
}

// planPasses plans steps in as few passes as possible, the longest first. No block waits for
// another one.
func planPasses(p *gvf.Problem, d device.Info, steps int64) (list []pass) {
	for _, depth := range depths(p.Dim()) {
		if count := steps / depth; count > 0 {
			one := streamed(p, d, depth)
			one.count = count
			list = append(list, one)
			steps -= count * depth
		}
	}
	return list
}

// depths lists the numbers of steps that kernels compute together, the largest first.
func depths(dim int) []int64 {
	if dim == 2 {
		return []int64{8, 4, 2, 1}
	}
	return []int64{4, 2, 1}
}

// streamed returns a pass of the given number of steps.
func streamed(of *gvf.Problem, d device.Info, depth int64) pass {
	s, kept, sms := of.Shape(), size(of), int64(d.SMs)
	p := pass{module: "gvf_blocked", kernel: fmt.Sprintf("gvf_blocked_%dd_%d%s", s.Dim(), depth, suffix(of)), readsB: true}
	if s.Dim() == 2 {
		// A multiprocessor runs 12 blocks of one warp at once; two rounds are best.
		const atOnce = 24
		slots := int64(8) // in the rings of V0 and b; the ring of V has 4
		if depth == 8 {
			slots = 16
		}
		strips := 2 * grid.CeilDiv(s.W, stripColumns-2*max(margin, depth))
		p.length = run(s.H, s.H, strips, sms*atOnce, 2*depth)
		p.launch = launch(strips*grid.CeilDiv(s.H, p.length), 1, ((4+slots)*kept+slots*4)*stripColumns)
		return p
	}
	warps := tileWarps(of)
	rows := rowsOfWarp * warps
	// Planes of a tile: of V, V0 and b, and of each step except the last two.
	bytes := ((2+ahead+3+ahead)*kept + (3+ahead+2*(depth-1))*4) * tileColumns * rows
	tiles := 3 * tilesAlong(of, s.W, tileColumns, 4) * tilesAlong(of, s.H, rows, 1)
	p.length = run(s.D, longest, tiles, sms, 2*depth)
	p.launch = launch(tiles*grid.CeilDiv(s.D, p.length), warps, bytes)
	return p
}

// tilesAlong returns the number of tiles along an axis of n. With the boundary Replicate, and if
// the axis is at least one tile, the outer tiles need no margin at its ends.
func tilesAlong(p *gvf.Problem, n, tile, atOnce int64) int64 {
	if p.Boundary == gvf.Replicate && n >= tile && n%atOnce == 0 {
		n -= 2 * margin
	}
	return grid.CeilDiv(n, tile-2*margin)
}

// size returns the number of bytes per number of the field.
func size(p *gvf.Problem) int64 {
	if p.Storage == gvf.Float32 {
		return 4
	}
	return 2
}

// run returns the number of planes or rows that a tile processes, at most most. atOnce tiles run
// together, and each reads more extra planes. The choice makes the last round of tiles nearly full.
func run(n, most, tiles, atOnce, more int64) (length int64) {
	length = n
	least := int64(math.MaxInt64)
	for parts := grid.CeilDiv(n, most); parts <= n; parts++ {
		each := grid.CeilDiv(n, parts)
		if cost := grid.CeilDiv(tiles*grid.CeilDiv(n, each), atOnce) * (each + more); cost < least {
			length, least = each, cost
		}
	}
	return length
}
