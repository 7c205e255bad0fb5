package gpu

import (
	"fmt"

	"eccbench/internal/device"
	"eccbench/internal/grid"
)

// The blocks of plain steps.
const (
	plainWarps  = 8
	plainPlanes = 32 // that a block goes through
)

func up(n, by int64) int64 { return (n + by - 1) / by }

// globally is steps by threads of four voxels where rows begin at multiples of them, else of one.
func globally(s grid.Shape, _ device.Info, steps int64) []pass {
	if s.W%4 != 0 {
		return byVoxel(fmt.Sprintf("gvf_global_%dd_unaligned", s.Dim()), s, steps)
	}
	blocks := up(s.W, 128) * up(s.H, plainWarps) * up(s.D, plainPlanes)
	return []pass{{module: "gvf_plain", kernel: fmt.Sprintf("gvf_global_%dd", s.Dim()), launch: launch(blocks, plainWarps, 0), count: steps, length: plainPlanes}}
}

func textured(s grid.Shape, _ device.Info, steps int64) []pass {
	return byVoxel(fmt.Sprintf("gvf_texture_%dd", s.Dim()), s, steps)
}

func byVoxel(kernel string, s grid.Shape, steps int64) []pass {
	return []pass{{module: "gvf_plain", kernel: kernel, launch: launch(up(up(s.W, 32)*s.H*s.D, plainWarps), plainWarps, 0), count: steps}}
}

func launch(blocks, warps, shared int64) device.Launch {
	return device.Launch{Grid: device.Dim{X: blocks}, Block: device.Dim{X: 32 * warps}, Shared: shared}
}

// The tiles of steps that are taken together (kernels/gvf/blocked_3d.h, blocked_2d.h): columns
// and rows that a block has, with a margin; and the columns that a warp has of a 2D image.
const (
	tileColumns, tileRows, tileWarps, margin = 64, 48, 12, 4

	stripColumns, stripWarps = 128, 4
)

// The tiles of an image that registers hold (kernels/gvf/gvf_resident.cu), a block each.
const residentTile, residentWarps, residentSteps = 64, 8, 8

// tilesOf is how many tiles such an image has, 0 for one that is none.
func tilesOf(s grid.Shape, d device.Info) int64 {
	if n := 2 * (s.W / residentTile) * (s.H / residentTile); s.Dim() == 2 && s.W%residentTile == 0 && s.H%residentTile == 0 && n <= int64(d.SMs) {
		return n
	}
	return 0
}

// exchangeBytes is what the blocks of such an image exchange pixels through.
func exchangeBytes(s grid.Shape, d device.Info) int64 {
	return 2 * 8 * tilesOf(s, d) * residentTile * residentTile
}

// blocked is steps that are taken together: all of an image that registers hold, and of others
// as many as there are kernels for, the most first.
func blocked(s grid.Shape, d device.Info, steps int64) (list []pass) {
	if n := tilesOf(s, d); n > 0 {
		return []pass{{module: "gvf_resident", kernel: "gvf_resident", launch: launch(n, residentWarps, 0), count: 1, readsB: true, steps: steps}}
	}
	depths := []int64{4, 2, 1}
	if s.Dim() == 2 {
		depths = []int64{8, 4, 2, 1}
	}
	for _, depth := range depths {
		if count := steps / depth; count > 0 {
			p := streamed(s, d, depth)
			p.count = count
			list = append(list, p)
			steps -= count * depth
		}
	}
	return list
}

// streamed is a pass of so many steps.
func streamed(s grid.Shape, d device.Info, depth int64) pass {
	p := pass{module: "gvf_blocked", kernel: fmt.Sprintf("gvf_blocked_%dd_%d", s.Dim(), depth), readsB: true}
	sms := int64(d.SMs)
	if s.Dim() == 2 {
		const atOnce, words = 12, (4 + 2*16) * stripColumns // warps of a multiprocessor, and what each has in its rings
		strips := 2 * up(s.W, stripColumns-2*max(margin, depth))
		p.length = run(s.H, strips, sms*atOnce, 2*depth)
		p.launch = launch(up(strips*up(s.H, p.length), stripWarps), stripWarps, 4*words*stripWarps)
		return p
	}
	// Planes of a tile: of V three, of V0 and b four each, and of each step but the last two.
	words := (3 + 4 + 4 + 2*(depth-1)) * tileColumns * tileRows
	tiles := 3 * up(s.W, tileColumns-2*margin) * up(s.H, tileRows-2*margin)
	p.length = run(s.D, tiles, sms, 2*depth)
	p.launch = launch(tiles*up(s.D, p.length), tileWarps, 4*words)
	return p
}

// run is how many of n planes, or rows, a tile goes through, where so many run at a time and each
// has some planes more than it makes: so that the last turn of all is nearly full.
func run(n, tiles, atOnce, more int64) (length int64) {
	length = n
	least := up(tiles, atOnce) * (n + more)
	for parts := int64(2); parts <= n; parts++ {
		each := up(n, parts)
		if cost := up(tiles*up(n, each), atOnce) * (each + more); cost < least {
			length, least = each, cost
		}
	}
	return length
}
