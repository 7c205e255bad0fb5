package ecc

import (
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/checktest"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/verify"
	"eccbench/internal/verify/verifytest"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/fingerprint"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover the cost of shards, the weights of the fingerprint, components and holes, and
// failing laws.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "costs of shares", Of: shareCosts},
		{Name: "costs of shares of many levels", Of: shareCostsOfLevels},
		{Name: "components and holes", Of: bettiIsEulers},
		{Name: "components and holes of a picture", Of: bettiByHand},
		{Name: "laws that take what is wrong", Of: blindLawsAreFound},
		{Name: "inverted planes", Of: invertedPlanes},
		{Name: "images that laws transpose", Of: transposedInMemory},
		{Name: "where a curve is from", Of: provenanceIsTold},
		{Name: "lines that are not the answer's", Of: otherLinesAreFound},
		{Name: "answers to one pass that are wrong", Of: passesTell},
		{Name: "laws that cannot be tried", Of: failuresAreTold},
		{Name: "laws of wrong answers", Of: lawsContradict},
		{Name: "estimates of laws", Of: estimatesGrow},
		{Name: "laws of what cannot be read", Of: failedReadsAreTold},
		{Name: "laws of what changes", Of: changesAreSeen},
		{Name: "laws that ask", Of: asksAreHeard},
		{Name: "wrong levels are named", Of: wrongLevelsAreNamed},
		{Name: "what laws are of", Of: lawsApply},
		{Name: "neighbourhoods", Of: neighbourhoods},
		{Name: "curves that are written", Of: curvesReadBack},
		{Name: "shares of a curve", Of: sharesAddUp},
		{Name: "bytes that are read once", Of: bytesReadOnce},
		{Name: "what is counted and looked at", Of: goTogether},
		{Name: "what implementations are asked", Of: viewsAreAsked},
		{Name: "implementations that fail", Of: failedCallsAreTold},
	}
}

// A sixteenth of 2048³ of 8 or 16 bits takes at most 300 MB, including the slabs in memory. A shard
// reads its slices, the slice before, and the slice that closes a ring. Memory does not grow with
// the number of slices.
func shareCosts(t *testing.T) {
	for _, typ := range []grid.Type{grid.Uint8, grid.Uint16} {
		s := gridtest.VastOf(grid.Shape{D: 2048, H: 2048, W: 2048}, typ)
		size := grid.SliceBytes(s)
		ring := Convention{Periodic: grid.Axes{Z: true}}
		for _, c := range []struct {
			in    Convention
			of    grid.Span
			reads int64
		}{
			{Convention{}, grid.Span{Lo: 0, Hi: 128}, 128}, {Convention{}, grid.Span{Lo: 128, Hi: 256}, 129}, {Convention{}, grid.Span{Lo: 5, Hi: 5}, 0},
			{ring, grid.Span{Lo: 0, Hi: 2048}, 2048}, {ring, grid.Span{Lo: 1, Hi: 2048}, 2048}, {ring, grid.Span{Lo: 2, Hi: 2048}, 2048},
			{ring, grid.Span{Lo: 1920, Hi: 2048}, 130}, {ring, grid.Span{Lo: 1792, Hi: 1920}, 129},
		} {
			got := ShareOf(s, c.in, c.of, 2)
			if got.Reads != c.reads*size {
				t.Errorf("%v %v %+v: reads %d slices and %d bytes, want %d", typ, c.of, c.in, got.Reads/size, got.Reads%size, c.reads)
			}
			if c.of.Len() > 0 && (got.Memory < grid.PieceBytes(s, c.of) || c.in == (Convention{}) && got.Memory > 300e6) {
				t.Errorf("%v %v: %d bytes of memory", typ, c.of, got.Memory)
			}
		}
		few, many := ShareOf(s, Convention{}, grid.Span{Lo: 100, Hi: 200}, 2), ShareOf(s, Convention{}, grid.Span{Lo: 100, Hi: 2000}, 2)
		if few.Memory != many.Memory {
			t.Errorf("%v: %d bytes of memory for 100 slices, %d for 1,900", typ, few.Memory, many.Memory)
		}
	}
}

// In addition to slabs, memory grows with the levels: a weight of each function, a counter of each
// core, and three more. With too many levels for tables, it grows with the changes not yet on disk.
// A part has an entry for each step; there are no more steps than levels or cells.
func shareCostsOfLevels(t *testing.T) {
	cube := grid.Shape{D: 64, H: 64, W: 64}
	beside := func(typ grid.Type) int64 {
		s, of := gridtest.VastOf(cube, typ), grid.Span{Lo: 16, Hi: 32}
		return ShareOf(s, Convention{}, of, 2).Memory - grid.PieceBytes(s, of)
	}
	const words = 1 + 2 + 3
	if got := beside(grid.Uint16) - beside(grid.Uint8); got != 8*words*(1<<16-1<<8) {
		t.Errorf("65,536 levels take %d bytes more than 256, want %d", got, 8*words*(1<<16-1<<8))
	}
	for _, c := range []struct {
		shape         grid.Shape
		typ           grid.Type
		reads, steps  int64
		spilledVoxels int64 // 0 where a table adds changes up
	}{
		{cube, grid.Uint8, 17, 256, 0}, {cube, grid.Uint16, 17, 1 << 16, 0}, {grid.Shape{D: 64, H: 4, W: 5}, grid.Uint16, 17, 8 * 17 * 4 * 5, 0},
		{cube, grid.Float32, 17, 17 * 64 * 64, 17 * 64 * 64}, {grid.Shape{D: 64, H: 1 << 12, W: 1 << 12}, grid.Float32, 17, 17 << 24, max(SpilledVoxels, fewestSpilled<<24) + 1<<24},
	} {
		s, of := gridtest.VastOf(c.shape, c.typ), grid.Span{Lo: 16, Hi: 32}
		got := ShareOf(s, Convention{}, of, 2)
		if want := partBytes*c.steps + 16*c.reads + s.Ladder().TableBytes() + 4096; got.Part != want {
			t.Errorf("%v of %v: a part of %d bytes, want %d", c.shape, c.typ, got.Part, want)
		}
		want := programBytes + 2*coreBytes + grid.PieceBytes(s, of) + stepBytes*c.spilledVoxels
		if c.spilledVoxels == 0 {
			want += 8 * words * s.Ladder().Len()
		}
		if got.Memory != want {
			t.Errorf("%v of %v: %d bytes of memory, want %d", c.shape, c.typ, got.Memory, want)
		}
		// A view of a piece is another piece, and each core reads at least three slices of it.
		// There is at most one core for each slice.
		for threads, slices := range map[int]int64{2: 6, 16: 48, 17: 51, 40: 51} {
			plain, other := ShareOf(s, Convention{}, of, threads), ShareOf(s, Convention{Superlevel: true}, of, threads)
			if got, want := other.Memory-plain.Memory, grid.PieceBytes(s, of)+slices*grid.SliceBytes(s); got != want {
				t.Errorf("%v of %v, %d cores: a view takes %d bytes more, want %d", c.shape, c.typ, threads, got, want)
			}
		}
	}
	whole := gridtest.Image(t, grid.Shape{D: 9, H: 3, W: 2}, grid.Uint8, grid.Identity(grid.Uint8), func(int64) float64 { return 0 })
	of := grid.Span{Lo: 3, Hi: 5}
	if got := ShareOf(whole, Convention{}, of, 1).Memory - ShareOf(struct{ grid.Source }{whole}, Convention{}, of, 1).Memory; got != 9*3*2 {
		t.Errorf("an image in memory takes %d bytes more, want its 54", got)
	}
}

// Components less holes is the Euler characteristic, which is counted from cells and shares nothing
// with union and find.
func bettiIsEulers(t *testing.T) {
	few, err := grid.Affine(0, 1, 7)
	if err != nil {
		t.Fatal(err)
	}
	for _, shape := range []grid.Shape{{D: 1, H: 37, W: 41}, {D: 1, H: 3, W: 64}, {D: 1, H: 33, W: 1}, {D: 1, H: 1, W: 33}} {
		for what, value := range map[string]func(i int64) float64{
			"noise":          func(i int64) float64 { return float64((i*i + 3) * 7919 % 101 % 7) },
			"a checkerboard": func(i int64) float64 { return float64((i%shape.W + i/shape.W) % 2) },
			"a constant":     func(int64) float64 { return 3 },
		} {
			for _, typ := range []grid.Type{grid.Uint8, grid.Float32} {
				f := gridtest.Image(t, shape, typ, few, value)
				components, holes, err := Betti(f)
				if err != nil {
					t.Fatal(err)
				}
				for k := range few.Len() {
					chi, err := cells.Characteristic(f, k)
					if err != nil {
						t.Fatal(err)
					}
					if components[k] < 0 || holes[k] < 0 || components[k]-holes[k] != chi {
						t.Fatalf("%s, %v of %v, level %d: %d components, %d holes, χ = %d", what, shape, typ, k, components[k], holes[k], chi)
					}
				}
				if last := len(components) - 1; components[last] != 1 || holes[last] != 0 {
					t.Errorf("%s, %v: the whole image has %d components and %d holes", what, shape, components[last], holes[last])
				}
			}
		}
	}
}

// Two rings that touch at a corner, one around a pixel that touches it.
func bettiByHand(t *testing.T) {
	const picture = "###....#.#....###.......####...#..#...#.##...###."
	two, err := grid.Affine(0, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	f := gridtest.Image(t, grid.Shape{D: 1, H: 7, W: 7}, grid.Uint8, two, func(i int64) float64 {
		if picture[i] == '#' {
			return 0
		}
		return 1
	})
	components, holes, err := Betti(f)
	if err != nil || !slices.Equal(components, []int64{1, 1}) || !slices.Equal(holes, []int64{2, 0}) {
		t.Errorf("%v components, %v holes, %v", components, holes, err)
	}
	for _, s := range []gridtest.Vast{gridtest.VastOf(grid.Shape{D: 4, H: 4, W: 4}, grid.Uint8), gridtest.VastOf(grid.Shape{D: 1, H: 1 << 16, W: 1 << 15}, grid.Uint8)} {
		if _, _, err := Betti(s); err == nil {
			t.Errorf("%v is counted", s.Size)
		}
	}
	if _, _, err := Betti(gridtest.Unread{Source: f}); !errors.Is(err, gridtest.ErrUnread) {
		t.Errorf("of what cannot be read: %v", err)
	}
}

// scattered is an image on so few levels.
func scattered(t *testing.T, shape grid.Shape, typ grid.Type, levels int64) *grid.Field {
	t.Helper()
	few, err := grid.Affine(0, 1, levels)
	if err != nil {
		t.Fatal(err)
	}
	return gridtest.Image(t, shape, typ, few, func(i int64) float64 { return float64((i*i + 3) * 7919 % 101 % levels) })
}

// A law makes no statement if an implementation rejects its question. Other failures are errors.
func failuresAreTold(t *testing.T) {
	f := scattered(t, grid.Shape{D: 6, H: 5, W: 4}, grid.Float32, 7)
	out := Enumerate(f)
	failed := errors.New("it fails")
	for _, in := range []grid.Source{f, struct{ grid.Source }{f}} {
		if d, err := everyFloat32(in, out, func(grid.Source) (VCEC, error) { return nil, failed }); d != nil || !errors.Is(err, failed) {
			t.Errorf("%T: %v, %v", in, d, err)
		}
		if d, err := everyFloat32(in, out, func(grid.Source) (VCEC, error) { return nil, bench.Refuse(failed) }); d != nil || !errors.Is(err, verify.ErrNotApplicable) {
			t.Errorf("%T, refused: %v, %v", in, d, err)
		}
		every := grid.Identity(grid.Float32)
		fine := VCEC{}
		for _, s := range out {
			fine = append(fine, Step{every.Level(f.Ladder().Value(s.Level)), s.Change})
		}
		if d, err := everyFloat32(in, out, func(asked grid.Source) (VCEC, error) {
			if asked.Ladder().Key() != every.Key() || asked.Shape() != f.Shape() {
				return nil, failed
			}
			return fine, nil
		}); d != nil || err != nil {
			t.Errorf("%T, right: %v, %v", in, d, err)
		}
		for what, wrong := range map[string]VCEC{"without a step": fine[1:], "twice": append(slices.Clone(fine), fine[len(fine)-1]), "below all levels": append(VCEC{{-1, 1}}, fine...), "above all": append(slices.Clone(fine), Step{every.Len(), 1})} {
			if d, err := everyFloat32(in, out, func(grid.Source) (VCEC, error) { return wrong, nil }); d == nil || err != nil {
				t.Errorf("%T, %s: %v, %v", in, what, d, err)
			}
		}
	}
}

// counted returns the curve of an image from all its cells, with more added at its first level.
func counted(in grid.Source, more int64) (VCEC, error) {
	sum := map[int64]int64{}
	add := func(s grid.Source, times int64) error {
		f, err := grid.Load(s)
		if err != nil {
			return err
		}
		on := f.Ladder()
		if on.Len() > 1<<20 { // too many for a table
			values := slices.Clone(f.Floats())
			slices.Sort(values)
			if on, err = grid.Table(slices.Compact(values)); err != nil {
				return err
			}
			if f, err = grid.Trusted(f.Shape(), f.Type(), f.Data(), on); err != nil {
				return err
			}
		}
		for _, c := range Enumerate(f) {
			sum[s.Ladder().Level(on.Value(c.Level))] += times * c.Change
		}
		return nil
	}
	err := add(in, 1)
	var out VCEC
	for _, level := range slices.Sorted(maps.Keys(sum)) {
		if sum[level] += more; sum[level] != 0 {
			out = append(out, Step{level, sum[level]})
		}
		more = 0
	}
	return out, err
}

// Each law accepts a right answer, and contradicts a wrong answer to the image or to a derived
// question. If a derived question fails, it returns the error.
func lawsContradict(t *testing.T) {
	failed := errors.New("it fails")
	// These laws do not depend on the answer but on derived questions, the judge or the text.
	others := []string{readBack.Name, "an error put into the answer is found", "the fingerprint of what is joined", oneFingerprint(fingerprint.Draw(1)).Name}
	conventions := []string{"superlevel sets", "voxels as vertices", "axes closed to rings", "superlevel sets of vertices, closed to rings, in pieces"}
	tried := map[string]bool{}
	for _, f := range []*grid.Field{scattered(t, grid.Shape{D: 6, H: 5, W: 4}, grid.Float32, 7), scattered(t, grid.Shape{D: 1, H: 9, W: 9}, grid.Uint8, 9)} {
		right := Enumerate(f)
		wrong := slices.Clone(right)
		wrong[0].Change++
		for _, l := range allLaws() {
			check := func(out VCEC, answer ask, want string) {
				d, err := l.Check(f, out, answer)
				got := "nothing"
				switch {
				case errors.Is(err, verify.ErrNotApplicable):
					return
				case errors.Is(err, failed):
					got = "a failure"
				case err != nil:
					got = err.Error()
				case d != nil:
					got = "a difference"
				}
				tried[l.Name] = true
				if got != want {
					t.Errorf("the law %q of %v %v, want %s: %s (%v)", l.Name, f.Shape(), f.Type(), want, got, d)
				}
			}
			honest := func(in grid.Source) (VCEC, error) { return counted(in, 0) }
			check(right, honest, "nothing")
			if !slices.Contains(others, l.Name) && !slices.Contains(conventions, l.Name) {
				check(wrong, honest, "a difference")
			}
			if l.Calls > 0 && !slices.Contains(others, l.Name) {
				check(right, func(in grid.Source) (VCEC, error) { return counted(in, 1) }, "a difference")
				check(right, func(grid.Source) (VCEC, error) { return nil, failed }, "a failure")
			}
		}
	}
	for _, l := range allLaws() {
		if !tried[l.Name] {
			t.Errorf("the law %q says nothing of any image", l.Name)
		}
	}
}

// The enumeration is for small images on one core, and the cost of reading back depends on the
// levels.
func estimatesGrow(t *testing.T) {
	verifytest.EstimatesGrow(t, func() []verify.Law[grid.Source, VCEC] { return allLaws() }, func(voxels int64) grid.Source {
		return gridtest.VastOf(grid.Shape{D: voxels >> 16, H: 1 << 8, W: 1 << 8}, grid.Uint8)
	}, "enumeration of all cells", readBack.Name)
}

// A comparison with the fingerprint of a pass finds a wrong curve and a wrong order.
func passesTell(t *testing.T) {
	f := scattered(t, grid.Shape{D: 4, H: 5, W: 6}, grid.Uint8, 7)
	out := Enumerate(f)
	p := &pass{key: fingerprint.Draw(1)}
	sum, err := fingerprint.Compute(f, p.key, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := p.checkSum(f, sum, out); d != nil || err != nil {
		t.Errorf("a right answer: %v, %v", d, err)
	}
	wrong := slices.Clone(out)
	wrong[1].Change++
	turned := slices.Clone(out)
	slices.Reverse(turned)
	for _, out := range []VCEC{wrong, turned, out[1:], append(slices.Clone(out), Step{7, 1})} {
		if d, err := p.checkSum(f, sum, out); d == nil || err != nil {
			t.Errorf("%v: %v, %v", out, d, err)
		}
	}
	// The sum of many steps is the same on any number of cores.
	many := make(VCEC, 3<<12+5)
	for i := range many {
		many[i] = Step{int64(i), int64(i%7 + 1)}
	}
	want, err := SumOf(many, 1<<20, p.key, 1)
	if err != nil {
		t.Fatal(err)
	}
	for threads := range 5 {
		if got, err := SumOf(many, 1<<20, p.key, threads); err != nil || !got.Equal(want) {
			t.Errorf("%d steps on %d cores: %v, want %v (%v)", len(many), threads, got, want, err)
		}
	}
	if _, err := SumOf(many, int64(len(many)-1), p.key, 3); err == nil {
		t.Error("a step that is on no level is summed")
	}
}

// Noticing reports a law that accepts a wrong answer, and a fingerprint that names another level or
// change than the wrong one.
func blindLawsAreFound(t *testing.T) {
	f := scattered(t, grid.Shape{D: 1, H: 9, W: 9}, grid.Float32, 9)
	out := Enumerate(f)
	says := func(name string, d *verify.Diff) []law {
		return []law{{Name: name, Check: func(grid.Source, VCEC, ask) (*verify.Diff, error) { return d, nil }}}
	}
	middle := out[len(out)/2]
	right := atLevel(f, middle.Level, "a change of %+d", middle.Change, middle.Change+1)
	for i, c := range []struct {
		laws []law
		want bool // that an error is found
	}{
		{says("blind", nil), false}, {says("seeing", &verify.Diff{}), true}, {says(FingerprintLaw, &verify.Diff{Where: FingerprintLaw}), true}, {says(FingerprintLaw, right), true},
		{says(FingerprintLaw, nil), false}, {says(FingerprintLaw, &verify.Diff{Where: "level 1", Want: right.Want, Got: right.Got}), false},
		{says(FingerprintLaw, &verify.Diff{Where: right.Where, Want: right.Got, Got: right.Got}), false}, {says(FingerprintLaw, &verify.Diff{Where: right.Where, Want: right.Want}), false},
	} {
		d, err := noticing(c.laws, fingerprint.Draw(1)).Check(f, out, nil)
		if err != nil || (d == nil) != c.want {
			t.Errorf("case %d: %v (%v)", i, d, err)
		}
	}
	takes := func(law law, n time.Duration) law {
		law.Work = func(grid.Source) time.Duration { return n }
		return law
	}
	mixed := []law{takes(law{}, 5), takes(law{Calls: 1}, 70), {}, takes(law{}, 300)}
	k := fingerprint.Draw(1)
	for levels, want := range map[int64]time.Duration{fewLevels: 305 + 10*fingerprint.Work(onLevels(t, fewLevels), k.ForLevels(fewLevels), runtime.GOMAXPROCS(0)), fewLevels + 1: 305} {
		if got := noticing(mixed, k).Work(onLevels(t, levels)); got != want {
			t.Errorf("on %d levels it takes %d ns, want %d", levels, got, want)
		}
	}
	if _, err := noticing(nil, fingerprint.Draw(1)).Check(f, nil, nil); !errors.Is(err, verify.ErrNotApplicable) {
		t.Errorf("of no steps: %v", err)
	}
}

// onLevels returns an image with the given number of levels.
func onLevels(t *testing.T, levels int64) grid.Source {
	return scattered(t, grid.Shape{D: 1, H: 3, W: 3}, grid.Float32, levels)
}

// A 2D image is transposed in memory, where it is not too large for that, and no other.
func transposedInMemory(t *testing.T) {
	for _, c := range []struct {
		of    grid.Source
		whole bool
		err   error
	}{
		{onLevels(t, 9), true, nil}, {scattered(t, grid.Shape{D: 2, H: 3, W: 4}, grid.Uint8, 9), false, nil},
		{gridtest.VastOf(grid.Shape{D: 1, H: 1 << 16, W: 1<<14 + 1}, grid.Uint8), false, verify.ErrNotApplicable}, {gridtest.VastOf(grid.Shape{D: 2, H: 1 << 16, W: 1 << 14}, grid.Uint8), false, nil},
	} {
		got, err := Transposed(c.of)
		if _, whole := got.(*grid.Field); whole != c.whole || !errors.Is(err, c.err) {
			t.Errorf("%v: %T (%v)", c.of.Shape(), got, err)
		}
	}
}

// An inverted plane has exactly the voxels that were not in it, and none beyond its rows.
func invertedPlanes(t *testing.T) {
	for _, w := range []int64{1, 63, 64, 65, 128, 130} {
		const h = 3
		plane, other := make([]byte, h*w), make([]byte, h*w)
		for i := range plane {
			plane[i] = byte(i * i >> 1 & 1)
			other[i] = 1 - plane[i]
		}
		got, want := cells.NewPlaneSet(h, w), cells.NewPlaneSet(h, w)
		got.Fill(grid.Uint8, plane, 0)
		want.Fill(grid.Uint8, other, 0)
		got.Invert()
		for y := int64(-1); y <= h; y++ {
			if !slices.Equal(got.Row(y), want.Row(y)) {
				t.Errorf("%d voxels, row %d: %x, want %x", w, y, got.Row(y), want.Row(y))
			}
		}
	}
}

// The line above a curve lists the known provenance.
func provenanceIsTold(t *testing.T) {
	bare := Provenance{Input: "an image", Shape: "3x4", Type: "uint8", Ladder: "identity", Construction: "T", Filtration: "up", Implementation: "extrema", Program: "one", Verdict: "VERIFIED", Witness: "two"}
	const want = "# an image: 3x4 uint8, identity; T; up; extrema by one, VERIFIED by two"
	if got := bare.Comment(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for said, add := range map[string]func(*Provenance){
		"; voxels 0123": func(p *Provenance) { p.Digest = "0123" }, "; periodic along x,z": func(p *Provenance) { p.Periodic = "x,z" },
		"; voxels of mask brain": func(p *Provenance) { p.Mask = "brain" }, "; 7 slices, each by itself": func(p *Provenance) { p.Slices = 7 },
	} {
		p := bare
		add(&p)
		if got, want := p.Comment(), strings.Replace(want, "; up", "; up"+said, 1); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Lines that are read back are compared with the answer: a missing, added or different line is
// found.
func otherLinesAreFound(t *testing.T) {
	f := scattered(t, grid.Shape{D: 3, H: 5, W: 4}, grid.Uint8, 9)
	out := Enumerate(f)
	for _, c := range []Convention{{}, {Superlevel: true}} {
		for _, format := range Formats() {
			r := newReader(f, out, c, format)
			if err := errors.Join(r.whole(), r.chunked(), r.within(), r.sliced(), r.same(0, r.Len(), r.Lines)); err != nil {
				t.Errorf("%s, %+v: %v", format, c, err)
			}
			for at := range out {
				wrong := r.Lines
				wrong.Curve = slices.Clone(out)
				wrong.Curve[at].Change += 3
				if r.same(0, r.Len(), wrong) == nil {
					t.Errorf("%s, %+v: a change of %+d is read as one of %+d", format, c, wrong.Curve[at].Change, out[at].Change)
				}
			}
			if !r.All && (r.same(0, r.Len()-1, r.Lines) == nil || r.same(1, r.Len(), r.Lines) == nil || r.same(1, r.Len()+1, r.Lines) == nil) {
				t.Errorf("%s, %+v: a line more or less is none", format, c)
			}
		}
	}
}
