package duality

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/homology"
)

// OnDevice runs the method on an NVIDIA device (kernels/homology/homology_duality.cu). Triangles
// and edges are matched in hash tables in the device's memory.
type OnDevice struct{ Open resident.Opener }

// About describes the method.
func (OnDevice) About() bench.About {
	return bench.About{
		Name: "duality-gpu", Where: "gpu",
		Method: "as duality, resident",
		Source: "doc/proofs/homology.md, Delfinado and Edelsbrunner 1995",
		Scopes: []bench.Scope{bench.Kernel, bench.Device, bench.E2E, bench.File},
	}
}

// Sizes of the kernels' work (kernels/homology/homology_duality.cu).
const (
	module     = "homology_duality"
	block      = 256
	someBlocks = 8       // per multiprocessor, if only the device knows the amount of work
	mostTets   = 1 << 26 // so that corner numbers of all triangles have 30 bits
)

// The counters, one word each.
const (
	components = iota
	boundary   // number of boundary triangles
	borders    // number of boundary vertices
	surfaces
	fans // fans of triangles around boundary vertices
	matched
	notInSpace
	notASurface
	flat
	counters
)

// tablePlaces returns the table sizes for a number of tetrahedra. All triangles may be different,
// or almost all may appear twice. Each boundary edge has at least two triangles.
func tablePlaces(tets int64) (faces, edges int64) { return 9*tets/2 + 1, 7*tets + 1 }

// needs returns the device memory for a complex.
func needs(p *homology.Problem) int64 {
	tets := p.Given()
	_, edges := tablePlaces(tets)
	return 16*tets + 24*int64(p.Vertices) + 8*edges + (4+1+16+48)*tets + 8*int64(p.Vertices)
}

// CanDo rejects a complex that duality rejects, or that does not fit the device.
func (o OnDevice) CanDo(p *homology.Problem, c bench.Conditions) error {
	d, err := o.Open(c.Device)
	if err != nil {
		return err
	}
	if err := inSpace(p); err != nil {
		return err
	}
	if n := p.Given(); n > mostTets {
		return fmt.Errorf("%d tetrahedra, and the kernels support at most %d; use reduced", n, mostTets)
	}
	if err := resident.Fits(d, needs(p), "the mesh with its tables"); err != nil {
		return err
	}
	j, err := o.Setup(p, c)
	if err != nil {
		return err
	}
	return errors.Join(j.Do(nil), j.Close())
}

// Setup loads the kernels and copies the mesh to the device.
func (o OnDevice) Setup(p *homology.Problem, c bench.Conditions) (bench.Job[homology.Groups], error) {
	d, err := o.Open(c.Device)
	if err != nil {
		return nil, err
	}
	program, err := resident.NewProgram(d, "duality", module, module+"_faces", module+"_join", module+"_boundary",
		module+"_clear", module+"_edges", module+"_count")
	if err != nil {
		return nil, err
	}
	j := &deviceJob{Program: program, in: p, whole: c.Scope == bench.E2E || c.Scope == bench.File,
		Output: bench.PoisonedBy(homology.Poisoned())}
	return bench.Ready(j, j.setup())
}

// A deviceJob has a resident mesh, or copies it in each Do.
type deviceJob struct {
	*resident.Program
	in    *homology.Problem
	whole bool
	bench.Output[homology.Groups]

	tets, points   device.Buffer
	table          device.Buffer // first for triangles, then for edges
	parent, border device.Buffer // forests of vertices
	list, corner   device.Buffer // boundary triangles, and a forest of their corners
	hidden, found  device.Buffer // tetrahedra whose orientation needs exact arithmetic, and their orientations
	count          device.Buffer
	result         device.Pinned
}

var _ bench.DeviceJob = &deviceJob{}

func (j *deviceJob) setup() error {
	tets, vertices := j.in.Given(), int64(j.in.Vertices)
	_, edges := tablePlaces(tets)
	for _, b := range []struct {
		to    *device.Buffer
		name  string
		bytes int64
	}{
		{&j.tets, "tetrahedra", 16 * tets}, {&j.points, "points", 24 * vertices}, {&j.table, "table", 8 * edges},
		{&j.parent, "forest", 4 * vertices}, {&j.border, "forest of the boundary", 4 * vertices},
		{&j.list, "boundary", 16 * tets}, {&j.corner, "corners", 48 * tets}, {&j.hidden, "flat tetrahedra", 4 * tets},
		{&j.found, "sides", tets}, {&j.count, "counts", 4 * counters},
	} {
		*b.to = j.Alloc(b.name, b.bytes)
	}
	j.result = j.NewPinned("counts on the host", 4*counters)
	if j.Err() != nil || j.whole {
		return j.Err()
	}
	return j.bring()
}

// bring copies the mesh to the device.
func (j *deviceJob) bring() error {
	return errors.Join(j.Stream.Upload(j.tets, 0, grid.Bytes(j.in.Tops[3])),
		j.Stream.Upload(j.points, 0, grid.Bytes(j.in.Points)))
}

func (j *deviceJob) Do(*bench.Trace) error {
	if j.whole {
		if err := j.bring(); err != nil {
			return err
		}
	}
	if err := j.pass(0); err != nil {
		return err
	}
	if n := j.counted(flat); n > 0 {
		if err := j.lookAt(n); err != nil {
			return err
		}
		if err := j.pass(1); err != nil {
			return err
		}
	}
	return j.groups()
}

// pass runs all kernels once and copies the counts to the host.
func (j *deviceJob) pass(exact int32) error {
	tets := j.in.Given()
	faces, edges := tablePlaces(tets)
	n, places, most := uint32(tets), uint32(faces), uint32(edges)
	blocks, some := (tets+block-1)/block, someBlocks*int64(j.On.Info().SMs)
	err := j.Timed(func() error {
		return errors.Join(
			j.Stream.Fill(j.count, 0, 4*counters, 0), j.Stream.Fill(j.table, 0, 8*faces, 0),
			j.Stream.Fill(j.parent, 0, j.parent.Bytes(), 0xff), j.Stream.Fill(j.border, 0, j.border.Bytes(), 0xff),
			j.Launch(module+"_faces", blocks, block, 0, j.tets, n, j.points, j.hidden, j.found, exact, j.table, places, j.parent,
				j.count),
			j.Launch(module+"_join", blocks, block, 0, j.tets, n, j.parent),
			j.Launch(module+"_boundary", some, block, 0, j.tets, j.table, places, j.list, j.border, j.corner, j.count),
			j.Launch(module+"_clear", some, block, 0, j.table, most, j.count),
			j.Launch(module+"_edges", some, block, 0, j.tets, j.list, j.table, most, j.border, j.corner, j.count),
			j.Launch(module+"_count", some, block, 4*counters, j.parent, j.border, uint32(j.in.Vertices), j.corner, j.count),
		)
	})
	return errors.Join(err, j.Stream.Copy(j.result, 0, j.count, 0, 4*counters), j.Stream.Wait())
}

// counted returns a count of the last pass.
func (j *deviceJob) counted(what int) int64 {
	return int64(binary.LittleEndian.Uint32(j.result.Data()[4*what:]))
}

// lookAt computes the orientation of n tetrahedra exactly.
func (j *deviceJob) lookAt(n int64) error {
	list := make([]uint32, n)
	if err := j.Stream.Download(grid.Bytes(list), j.hidden, 0); err != nil {
		return err
	}
	found := make([]byte, j.in.Given())
	for _, t := range list {
		s := (*[4]uint32)(j.in.Tops[3][4*t:])
		side, err := orientation(j.in.Points, s)
		if err != nil {
			return fmt.Errorf("tetrahedron %d: %w", t, err)
		}
		found[t] = byte(side)
	}
	return j.Stream.Upload(j.found, 0, found)
}

// groups computes the answer from the counts. If the complex is invalid, it runs the CPU's method
// to get the error with its place.
func (j *deviceJob) groups() error {
	triangles, chi := j.counted(boundary), j.counted(borders)-j.counted(boundary)/2 // each triangle has three half edges
	if j.counted(notInSpace) > 0 || j.counted(notASurface) > 0 || 2*j.counted(matched) != 3*triangles ||
		j.counted(fans) != j.counted(borders) {
		c := bench.Conditions{Setting: bench.Setting{Threads: runtime.GOMAXPROCS(0)}}
		if err := newJob(j.in, c).Do(nil); err != nil {
			return err
		}
		return errors.New("the kernels see no surface where there is one") // unreachable
	}
	b0 := j.counted(components)
	b2 := j.counted(surfaces) - b0
	j.Last = homology.Groups{Betti: []int64{b0, b0 + b2 - chi/2, b2, 0}, Torsion: make([][]uint64, 4)}
	return nil
}

func (j *deviceJob) Poison() {
	j.Last = homology.Poisoned()
	j.Fill(0x5a, j.table, j.parent, j.border, j.list, j.corner, j.count)
	clear(j.result.Data())
}

// Close frees the device's memory and kernels. That of bench.Output, which is embedded less deep, does nothing.
func (j *deviceJob) Close() error { return j.Program.Close() }
