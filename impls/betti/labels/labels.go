// Package labels computes Betti numbers with textbook methods: it labels the components of the set
// and of its complement voxel by voxel, and counts the Euler characteristic separately.
package labels

import (
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/quantity"
	"eccbench/internal/workloads/betti"
)

// voxelNS and voxelBytes are the estimated time and memory per voxel: a label and an inside flag.
const (
	voxelNS    = 150
	voxelBytes = 9
)

// Implementation is ready to use as its zero value.
type Implementation struct{}

// About describes the method.
func (Implementation) About() bench.About {
	return bench.OnHost("labels",
		"union-find of voxels, the set 26-connected and the rest 6-connected; χ from the eight voxels "+
			"around each vertex; one core", "Rosenfeld and Pfaltz 1966, Toriwaki and Yonekura 2002")
}

// CanDo rejects an image that needs more time or memory than the conditions allow.
func (Implementation) CanDo(in *betti.Image, c bench.Conditions) error {
	n := in.Shape().Voxels()
	if err := c.Allow(quantity.Seconds(float64(n)*voxelNS*1e-9), "%d voxels × %d ns", n, voxelNS); err != nil {
		return err
	}
	return c.AllowMemory(n*voxelBytes, "%d bytes for each of %d voxels", voxelBytes, n)
}

// Setup allocates a label and a byte per voxel.
func (Implementation) Setup(in *betti.Image, _ bench.Conditions) (bench.Job[betti.Numbers], error) {
	n := in.Shape().Voxels()
	return &job{in: in, outside: grid.NewBuffer(n), labels: make([]int64, n+1),
		Output: bench.PoisonedBy(betti.Poisoned)}, nil
}

type job struct {
	in      *betti.Image
	outside []byte  // 0 inside, 1 outside
	labels  []int64 // of each voxel: another voxel of its component; the last label is for the outside of the box
	bench.Output[betti.Numbers]
}

func (j *job) Do(trace *bench.Trace) error {
	end := trace.Span("read")
	if err := j.in.Binary().ReadSlab(j.outside, 0, j.in.Shape().Slices()); err != nil {
		return err
	}
	end()
	end = trace.Span("components")
	b0 := j.components()
	end()
	end = trace.Span("cavities")
	b2 := j.cavities()
	end()
	defer trace.Span("characteristic")()
	j.Last = betti.Numbers{B0: b0, B1: b0 + b2 - j.characteristic(), B2: b2}
	return nil
}

// find returns the root of a label and halves the path to it.
func (j *job) find(i int64) int64 {
	for j.labels[i] != i {
		j.labels[i] = j.labels[j.labels[i]]
		i = j.labels[i]
	}
	return i
}

// join unites two components, and returns by how much their number drops (0 or 1).
func (j *job) join(a, b int64) int64 {
	a, b = j.find(a), j.find(b)
	if a == b {
		return 0
	}
	j.labels[max(a, b)] = min(a, b)
	return 1
}

// components returns the number of components of the set. It joins each voxel with its 13 earlier
// neighbours.
func (j *job) components() (n int64) {
	s := j.in.Shape()
	for at := range s.Voxels() {
		if j.outside[at] != 0 {
			continue
		}
		j.labels[at] = at
		n++
		z, y, x := s.Coordinates(at)
		for dz := int64(-1); dz <= 0; dz++ {
			for dy := int64(-1); dy <= 1; dy++ {
				for dx := int64(-1); dx <= 1; dx++ {
					if dz == 0 && (dy > 0 || dy == 0 && dx >= 0) {
						continue
					}
					if c, b, a := z+dz, y+dy, x+dx; c >= 0 && b >= 0 && b < s.H && a >= 0 && a < s.W {
						if to := (c*s.H+b)*s.W + a; j.outside[to] == 0 {
							n -= j.join(at, to)
						}
					}
				}
			}
		}
	}
	return n
}

// cavities returns the number of components of the background, without the outside. Voxels at the
// sides of the box are joined with the outside.
func (j *job) cavities() (n int64) {
	s := j.in.Shape()
	beyond := s.Voxels()
	j.labels[beyond] = beyond
	for at := range beyond {
		if j.outside[at] == 0 {
			continue
		}
		j.labels[at] = at
		n++
		z, y, x := s.Coordinates(at)
		if z == 0 || y == 0 || x == 0 || z == s.D-1 || y == s.H-1 || x == s.W-1 {
			n -= j.join(at, beyond)
		}
		for _, to := range [...]struct{ place, step int64 }{{x, 1}, {y, s.W}, {z, s.W * s.H}} {
			if to.place > 0 && j.outside[at-to.step] != 0 {
				n -= j.join(at, at-to.step)
			}
		}
	}
	return n
}

// characteristic sums each vertex's share of the cells around it, in eighths: all of itself, half
// of each edge, a quarter of each square and an eighth of each cube.
func (j *job) characteristic() int64 {
	s := j.in.Shape()
	share := shares()
	var eighths int64
	row := func(z, y int64) []byte {
		if z < 0 || z >= s.D || y < 0 || y >= s.H {
			return nil
		}
		return j.outside[(z*s.H+y)*s.W:][:s.W]
	}
	for z := range s.D + 1 {
		for y := range s.H + 1 {
			around := [4][]byte{row(z-1, y-1), row(z-1, y), row(z, y-1), row(z, y)}
			pattern := 0 // bit 2k+1 is the voxel after the vertex in row k, bit 2k the voxel before it
			for x := range s.W + 1 {
				pattern = pattern >> 1 & 0x55
				for k, r := range around {
					if r != nil && x < s.W && r[x] == 0 {
						pattern |= 2 << (2 * k)
					}
				}
				eighths += int64(share[pattern])
			}
		}
	}
	return eighths / 8
}

// shares returns the sum in eighths for each set of voxels around a vertex. Bits 0, 1 and 2 of a
// voxel's number mean the greater side along x, y and z.
func shares() (list [256]int8) {
	for pattern := 1; pattern < 256; pattern++ {
		sum := 8
		// A cell at the vertex spans some axes, each towards one side.
		for spans := 1; spans < 8; spans++ {
			for side := range 8 {
				there := false // false for sides along axes that the cell does not span
				for voxel := range 8 {
					there = there || voxel&spans == side && pattern>>voxel&1 == 1
				}
				if !there {
					continue
				}
				switch spans {
				case 1, 2, 4:
					sum -= 4
				case 7:
					sum--
				default:
					sum += 2
				}
			}
		}
		list[pattern] = int8(sum)
	}
	return list
}

func (j *job) Poison() {
	j.Last = betti.Poisoned
	for i := range j.labels {
		j.labels[i] = -1
	}
	for i := range j.outside {
		j.outside[i] = 0x5a
	}
}
