package duality

import (
	"errors"
	"math/rand/v2"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/grid/views"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// TestSlabs checks more slabs than TestChecks does.
func TestSlabs(t *testing.T) { slabsAdd(t, Implementation{}, 100) }

// checks test the kernels of each instruction set, the memory estimate of jobs, and slabs, which no
// law of a whole image covers.
func checks() []checktest.Check {
	i := Implementation{}
	return []checktest.Check{
		{Name: "bits of values", Of: bitsArePacked},
		{Name: "instructions that are taken", Of: kernelsAreTaken},
		{Name: "slabs", Of: func(t *testing.T) { slabsAdd(t, i, 24) }},
		{Name: "parts of devices", Of: partsAreUnited},
		{Name: "windows", Of: func(t *testing.T) { windowsAdd(t, i, 24) }},
		{Name: "planes that are read a few at a time", Of: func(t *testing.T) { fewAreRead(t, i) }},
		{Name: "memory", Of: memoryGrows},
		{Name: "memory that is held", Of: memoryIsHeld},
	}
}

// windowsAdd checks that windows of any number of planes, on any number of cores, sum to the
// numbers of an image, in memory or not.
func windowsAdd(t *testing.T, i Implementation, images int) {
	rng := rand.New(rand.NewPCG(4, 3))
	few, err := grid.Affine(0, 1, 12)
	if err != nil {
		t.Fatal(err)
	}
	for k := range images {
		side := 5 + int64(k%4)*5
		shape := grid.Shape{D: 1 + rng.Int64N(side), H: 1 + rng.Int64N(side), W: 1 + rng.Int64N(side)}
		if k%3 == 0 { // more than a word
			shape.W += 60
		}
		if k%6 == 5 { // more words than a byte can mark
			shape.W += 64 * markWords
		}
		if k%5 == 0 { // 2D
			shape.D, shape.H = 1, shape.D*shape.H
		}
		f := gridtest.Image(t, shape, grid.Types()[(k+k/4)%4], few, func(int64) float64 { return float64(rng.IntN(10)) })
		in := &betti.Image{Threshold: float32(rng.IntN(12) - 1), Source: f}
		want, err := betti.ByFlooding(in, ecc.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 2, 3, 7} {
			for _, planes := range []int64{0, 1, 2, 5} {
				i.planes = planes
				if in.Source = f; planes%2 == 1 {
					in.Source = struct{ grid.Source }{f}
				}
				if got := i.numbers(t, in, threads); got != want {
					t.Fatalf("%v of %v %v not above %v on %d cores, in windows of %d planes, want %v", got, shape, f.Type(), in.Threshold, threads, planes, want)
				}
			}
		}
	}
}

// numbers returns the numbers of an image on a number of cores.
func (i Implementation) numbers(t *testing.T, in *betti.Image, threads int) betti.Numbers {
	t.Helper()
	n, err := bench.Answer(i, in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// fewAreRead checks images that are not in memory. They are read a few planes at a time and have
// the same numbers; an unreadable one has none.
func fewAreRead(t *testing.T, i Implementation) {
	shape := grid.Shape{D: 5, H: 512, W: 1 << 10} // two planes are the most that is read at a time
	f, err := grid.Trusted(shape, grid.Uint8, grid.NewBuffer(shape.Voxels()), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 3))
	for range 2000 {
		f.Data()[rng.IntN(len(f.Data()))] = 1
	}
	for _, source := range []grid.Source{f, struct{ grid.Source }{f}} {
		in := &betti.Image{Source: source}
		want, err := betti.ByFlooding(in, ecc.Convention{})
		if err != nil {
			t.Fatal(err)
		}
		if got := i.numbers(t, in, 1); got != want || want.B2 < 100 {
			t.Errorf("%v, want %v", got, want)
		}
	}
	unread := &betti.Image{Source: gridtest.Unread{Source: f}}
	if n, err := bench.Answer(i, unread, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("%v of an image that is not read (%v)", n, err)
	}
	if _, err := i.Slab(betti.Piece{Image: unread}, 2); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("a piece that is not read has components (%v)", err)
	}
}

// slabsAdd checks that slabs of an image, cut anywhere, merge to its numbers. It covers every
// construction and any number of cores, and compares each slab with flood fill.
func slabsAdd(t *testing.T, i Implementation, images int) {
	rng := rand.New(rand.NewPCG(3, 3))
	few, err := grid.Affine(0, 1, 12)
	if err != nil {
		t.Fatal(err)
	}
	for k := range images {
		side := 7 + int64(k%4)*5
		shape := grid.Shape{D: 1 + rng.Int64N(side), H: 1 + rng.Int64N(side), W: 1 + rng.Int64N(5*side)}
		if k%6 == 5 { // more words than a byte can mark
			shape.W += 64 * markWords
		}
		if k%4 == 0 { // 2D
			shape.D, shape.H = 1, shape.D*shape.H
		}
		in := &betti.Image{Threshold: float32(rng.IntN(12) - 1), Source: gridtest.Image(t, shape, grid.Types()[(k+k/4)%4], few, func(int64) float64 { return float64(rng.IntN(10)) })}
		for _, vertices := range []bool{false, true} {
			want, err := betti.ByFlooding(in, ecc.Convention{Vertices: vertices})
			if err != nil {
				t.Fatal(err)
			}
			for threads := 1; threads < 3; threads++ {
				if got := i.ofSlabs(t, rng, in, vertices, threads, want.B0-want.B1+want.B2); got != want {
					t.Fatalf("%v of %v not above %v, vertices %v, on %d cores: want %v", got, shape, in.Threshold, vertices, threads, want)
				}
			}
		}
	}
}

// ofSlabs returns the numbers of an image from random slabs.
func (i Implementation) ofSlabs(t *testing.T, rng *rand.Rand, in *betti.Image, vertices bool, threads int, chi int64) betti.Numbers {
	isFlat, n := in.Shape().Dim() == 2, in.Shape().Slices()
	var all betti.Slab
	for lo := int64(0); lo == 0 || lo < n-1; {
		hi := min(n, lo+1+rng.Int64N(4))
		if lo > 0 || n > 1 {
			hi = min(n, max(hi, lo+2))
		}
		if lo == 0 && rng.IntN(3) == 0 {
			hi = 1 // a slab of one slice
		}
		f, err := grid.Load(views.Crop(in.Source, lo, hi))
		if err != nil {
			t.Fatal(err)
		}
		piece := betti.Piece{Image: &betti.Image{Source: f, Threshold: in.Threshold}, Vertices: vertices, Flat: isFlat, Ends: [2]bool{lo == 0, hi == n}}
		i.planes = rng.Int64N(3) // of a window, or the number that fits
		s, err := i.Slab(piece, threads)
		if err != nil {
			t.Fatal(err)
		}
		if d, err := betti.CompareSlab(piece, s, threads); d != nil || err != nil {
			t.Fatalf("slices %d to %d of %v not above %v, vertices %v: %v %v", lo, hi, in.Shape(), in.Threshold, vertices, d, err)
		}
		if lo == 0 {
			all = s
		} else if all, err = betti.Join(all, s); err != nil {
			t.Fatal(err)
		}
		if hi == n {
			break
		}
		lo = hi - 1
	}
	return betti.NumbersOf(all, isFlat, vertices, chi)
}

// need returns the estimated memory of a job in bytes.
func need(in grid.Source, threads int) int64 {
	return checktest.Least(func(memory int64) bool {
		c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}, Memory: memory}
		return Implementation{}.CanDo(&betti.Image{Source: in}, c) == nil
	})
}

// held returns the allocated memory of a job in bytes.
func (j *job) held() (n int64) {
	for _, p := range j.parts {
		w := p.window
		n += 8*int64(len(w.set)+len(w.left)+len(w.main)+len(p.first)+len(p.last)) + 4*int64(len(w.base)) + int64(len(w.some)+len(w.touching))
		for _, f := range p.forests[:j.kinds()] {
			n += 4 * int64(cap(f.parent)+cap(f.to)+cap(f.names))
			for _, k := range []*kept{&f.first, &f.last} {
				n += 8*int64(len(k.left)+len(k.main)) + 4*int64(len(k.base)) + int64(len(k.some))
			}
		}
	}
	return n
}

// A job of striped images, which have the most runs, allocates at most the estimate, and not much
// less. A streamed image also needs a read buffer per core.
func memoryIsHeld(t *testing.T) {
	for least, s := range map[int64]grid.Shape{ // percent of the estimate
		85: {D: 1, H: 40, W: 38000}, 75: {D: 100, H: 5, W: 200}, 92: {D: 1, H: 400, W: 1}, 77: {D: 3, H: 100, W: 3},
	} {
		f := gridtest.Image(t, s, grid.Uint8, grid.Identity(grid.Uint8), func(at int64) float64 { return float64(at % s.W % 2) })
		j, err := Implementation{}.Setup(&betti.Image{Source: f}, bench.Conditions{Setting: bench.Setting{Threads: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		said := need(f, 1)
		if held := j.(*job).held(); held > said || held < said*least/100 {
			t.Errorf("%v: %d bytes are held, of %d", s, held, said)
		}
		parts := min(3, (j.(*job).d+1)/2)
		if got := need(struct{ grid.Source }{f}, 3) - need(f, 3); got != parts*slabBytes {
			t.Errorf("%v: %d bytes of %d slabs that are read, want %d", s, got, parts, parts*slabBytes)
		}
	}
	wide := gridtest.Image(t, grid.Shape{D: 1, H: 2, W: slabBytes + 9}, grid.Uint8, grid.Identity(grid.Uint8), func(int64) float64 { return 0 })
	if got := need(struct{ grid.Source }{wide}, 1) - need(wide, 1); got != slabBytes+9 {
		t.Errorf("a row of %d bytes that is read takes %d", slabBytes+9, got)
	}
}

// The memory bound grows with the size of planes and the number of cores, but not with the number
// of planes.
func memoryGrows(t *testing.T) {
	need := func(s grid.Shape, threads int) int64 {
		f, err := grid.Trusted(s, grid.Uint8, grid.NewBuffer(s.Voxels()), grid.Identity(grid.Uint8))
		if err != nil {
			t.Fatal(err)
		}
		return need(f, threads)
	}
	s := grid.Shape{D: 16, H: 512, W: 512}
	base := need(s, 1)
	if least := int64(8 * 3 * 512 * 512 / 8); base < least { // bits of windows of eight planes
		t.Errorf("windows take %d bytes, want more than %d", base, least)
	}
	if got := need(grid.Shape{D: 32, H: 512, W: 512}, 1); got != base {
		t.Errorf("twice as many planes take %d bytes, want %d", got, base)
	}
	for of, got := range map[string]int64{"rows": need(grid.Shape{D: 16, H: 1024, W: 512}, 1), "columns": need(grid.Shape{D: 16, H: 512, W: 1024}, 1), "cores": need(s, 2)} {
		if got < base*17/10 || got > base*21/10 {
			t.Errorf("twice as many %s take %d bytes, half of them %d", of, got, base)
		}
	}
}

// Runs of a slice that two devices share unite their components, or a component and the outside.
func partsAreUnited(t *testing.T) {
	b := bound{from: []uint32{0, 3}, parents: make(crew.Parents, 8)}
	for i := range b.parents {
		b.parents[i] = uint32(i)
	}
	joined, same := b.unite(0, []uint32{1, 2, 2, noRun, 0, 3}, []uint32{1, 1, 1, noRun, 2, 0}) // the parts have nodes 1 to 3 and 4 to 7
	if joined != 4 || !same || b.parents.Find(2) != b.parents.Find(4) || b.parents.Find(5) != 0 || b.parents.Find(3) != 0 {
		t.Errorf("%d unions, %v: %v", joined, same, b.parents)
	}
	if _, same := b.unite(0, []uint32{1, noRun}, []uint32{1, 2}); same {
		t.Error("slices with different runs are the same")
	}
}
