package betti

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/grid/views"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti/flood"
	"eccbench/internal/workloads/betti/reductions"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
)

type (
	law = verify.Law[*Image, Numbers]
	ask = verify.Ask[*Image, Numbers]
)

// policy returns the rules to verify Betti numbers. An answer that computes b1 from the Euler
// characteristic always agrees with it. So flood fill verifies components and cavities too, or the
// complex of cells is reduced.
func policy() verify.Policy[*Image, Numbers] {
	return verify.Policy[*Image, Numbers]{Agree: agree, Known: knownNumbers, Laws: laws(), Weak: weak}
}

// weak returns the reason why a right answer would not expose a wrong program, or "".
func weak(_ *Image, out Numbers) string {
	if out.B0 <= 1 && out.B1 == 0 && out.B2 == 0 {
		return fmt.Sprintf("the numbers are %v, which a program that ignores its input could answer", out)
	}
	return ""
}

// The cost of a voxel in nanoseconds, above all measurements on noise with two busy cores. Filling
// and counting use one core. Small images are reduced.
const (
	fillNS, countNS, reduceNS = 12, 6, 10000
	mostReduced               = 48 * 48 * 48
)

func laws() []law {
	return verify.Bounded(append([]law{
		Flooding(ecc.Convention{}), // it also counts the Euler characteristic of a 3D image
		{Name: "b0 − b1 + b2 is the Euler characteristic by the definition", Work: costPerVoxel(countNS), Check: euler},
		{Name: "reductions of the complex of cells", Independent: true,
			Work: func(i *Image) time.Duration { return time.Duration(i.Shape().Voxels()) * reduceNS }, Check: reduced},
		{Name: "cut at a shared slice", Calls: 1.2, Check: cut},
		{Name: "one voxel less", Calls: 1.1, Work: costPerVoxel(countNS), Check: oneLess},
	}, append(invariants(), viewLaws()...)...), lawMemory)
}

// lawMemory returns the bytes that a law needs for an image.
func lawMemory(i *Image) int64 { return 8 * i.Shape().Voxels() }

// invariants returns the laws that views of an image have the same numbers.
func invariants() []law {
	return []law{
		{Name: "flip of the slices", Calls: 1.1, Work: costPerVoxel(1), Check: invariant(ecc.Flipped('s'))},
		{Name: "flip of the rows", Calls: 1.1, Work: costPerVoxel(1), Check: invariant(ecc.Flipped('x'))},
		{Name: "swap of the fastest axes", Calls: 1.5, Work: costPerVoxel(5), Check: invariant(ecc.Transposed)},
		{Name: "slices upright", Calls: 1.5, Work: costPerVoxel(5), Check: invariant(upright)},
		{Name: "planes of an image, all alike", Calls: 3.1, Check: invariant(planes)},
		{Name: "each voxel cut in eight", Calls: 8.1, Work: costPerVoxel(16),
			Check: invariant(func(s grid.Source) (grid.Source, error) { return doubled{s}, nil })},
	}
}

// conventions lists the conventions other than the default, with the names of their laws.
var conventions = []struct {
	name string
	c    ecc.Convention
}{
	{"superlevel set", ecc.Convention{Superlevel: true}}, {"voxels as vertices", ecc.Convention{Vertices: true}},
	{"superlevel set of vertices", ecc.Convention{Vertices: true, Superlevel: true}},
}

// viewLaws returns laws that compare answers for views in other conventions with flood fill in these
// conventions.
func viewLaws() (list []law) {
	for _, o := range conventions {
		list = append(list, law{Name: o.name, Calls: 1.3, Work: costPerVoxel(fillNS),
			Check: func(in *Image, _ Numbers, answer ask) (*verify.Diff, error) {
				out, err := bench.Answer(viewer{bench.FromFunc(answer), o.c}, in, bench.Conditions{})
				if err != nil {
					return nil, err
				}
				want, err := ByFlooding(in, o.c)
				if err != nil {
					return nil, err
				}
				return agree(in, want, out), nil
			}})
	}
	return list
}

// costPerVoxel returns a cost of ns nanoseconds per voxel, on all cores.
func costPerVoxel(ns int64) func(*Image) time.Duration {
	return func(i *Image) time.Duration {
		return time.Duration(i.Shape().Voxels() * ns / int64(runtime.GOMAXPROCS(0)))
	}
}

func euler(in *Image, out Numbers, _ ask) (*verify.Diff, error) {
	chi, err := cells.CharacteristicAt(in.Source, in.Threshold)
	if err != nil {
		return nil, err
	}
	if got := out.Euler(); got != chi {
		return &verify.Diff{Where: "b0 − b1 + b2", Want: fmt.Sprint(chi), Got: fmt.Sprintf("%d of %v", got, out)}, nil
	}
	return nil, nil
}

// FloodName is the name of the law that flood-fills components and cavities.
const FloodName = "flood fill"

// Flooding returns the law that flood-fills components and cavities in a convention.
func Flooding(c ecc.Convention) verify.Law[*Image, Numbers] {
	return law{Name: FloodName, Independent: true,
		Work:   costPerVoxel(fillNS),
		Memory: func(i *Image) int64 { return flood.Bytes(i.Source, runtime.GOMAXPROCS(0)) },
		Check: func(in *Image, out Numbers, _ ask) (*verify.Diff, error) {
			want, err := ByFlooding(in, c)
			if err != nil {
				return nil, err
			}
			return agree(in, want, out), nil
		}}
}

func reduced(in *Image, out Numbers, _ ask) (*verify.Diff, error) {
	if in.Shape().Voxels() > mostReduced {
		return nil, verify.ErrNotApplicable
	}
	m, err := maskOf(in, false)
	if err != nil {
		return nil, err
	}
	n := reductions.Compute(m.inside, m.d, m.h, m.w)
	return agree(in, Numbers{n[0], n[1], n[2]}, out), nil
}

// cut checks the bounds of Mayer and Vietoris for two parts A and B that share one slice C:
//
//	b(A) + b(B) − b(C) ≤ b(A∪B) ≤ b(A) + b(B) + b of C, one dimension lower.
func cut(in *Image, out Numbers, answer ask) (*verify.Diff, error) {
	n := in.Shape().Slices()
	if n < 3 {
		return nil, verify.ErrNotApplicable
	}
	m := n / 2
	var part [3]Numbers
	for i, of := range [3][2]int64{{0, m + 1}, {m, n}, {m, m + 1}} {
		var err error
		if part[i], err = answer(in.viewOf(views.Crop(in.Source, of[0], of[1]))); err != nil {
			return nil, err
		}
	}
	a, b, c := part[0], part[1], part[2]
	for _, k := range []struct {
		name                  string
		of, both, same, lower int64
	}{{"b0", out.B0, a.B0 + b.B0, c.B0, 0}, {"b1", out.B1, a.B1 + b.B1, c.B1, c.B0},
		{"b2", out.B2, a.B2 + b.B2, c.B2, c.B1}} {
		if k.of < k.both-k.same || k.of > k.both+k.lower {
			return &verify.Diff{Where: fmt.Sprintf("%s, cut at slice %d", k.name, m),
				Want: fmt.Sprintf("%d to %d", k.both-k.same, k.both+k.lower), Got: fmt.Sprint(k.of)}, nil
		}
	}
	return nil, nil
}

// oneLess removes a voxel from the set. This makes at most one cavity, or joins the cavities at its
// six faces and the outside. It also removes a component, or splits one into up to eight.
func oneLess(in *Image, out Numbers, answer ask) (*verify.Diff, error) {
	m, err := maskOf(in, false)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(uint64(out.B1), uint64(len(m.inside))))
	at := -1
	for range 64 {
		if i := rng.IntN(len(m.inside)); m.inside[i] {
			at = i
			break
		}
	}
	if at < 0 {
		return nil, verify.ErrNotApplicable
	}
	less, err := answer(&Image{Source: withoutVoxel{in.Binary(), int64(at)}})
	if err != nil {
		return nil, err
	}
	for _, k := range []struct {
		name            string
		of, least, most int64
	}{{"b0", less.B0 - out.B0, -1, 7}, {"b2", less.B2 - out.B2, -5, 1}, {"b1", less.B1 - out.B1, -7, 5}} {
		if k.of < k.least || k.of > k.most {
			return &verify.Diff{Where: fmt.Sprintf("%s without voxel %d", k.name, at),
				Want: fmt.Sprintf("a change of %d to %d", k.least, k.most), Got: fmt.Sprint(k.of)}, nil
		}
	}
	return nil, nil
}

func invariant(change func(grid.Source) (grid.Source, error)) func(*Image, Numbers, ask) (*verify.Diff, error) {
	return verify.Invariant(func(in *Image) (*Image, error) {
		changed, err := change(in.Source)
		return in.viewOf(changed), err
	}, agree)
}

// mostTurned is the largest image in bytes that upright loads.
const mostTurned = 1 << 30

// upright exchanges the slices and the rows of a 3D image.
func upright(s grid.Source) (grid.Source, error) {
	from := s.Shape()
	if from.D == 1 || grid.TotalBytes(s) > mostTurned {
		return nil, verify.ErrNotApplicable
	}
	f, err := grid.Load(s)
	if err != nil {
		return nil, err
	}
	row := from.W * s.Type().Size()
	data := grid.NewBuffer(int64(len(f.Data())))
	for z := range from.D {
		for y := range from.H {
			copy(data[(y*from.D+z)*row:][:row], f.Data()[(z*from.H+y)*row:])
		}
	}
	return grid.Trusted(grid.Shape{D: from.H, H: from.D, W: from.W}, s.Type(), data, s.Ladder())
}

// planes repeats a 2D image in three planes.
func planes(s grid.Source) (grid.Source, error) {
	if s.Shape().D > 1 {
		return nil, verify.ErrNotApplicable
	}
	return extruded{s, 3}, nil
}
