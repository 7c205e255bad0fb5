//go:build amd64 && !noasm

package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"eccbench/internal/checktest"
	"eccbench/internal/isa"
)

// argumentChecks call the functions in assembly directly.
func argumentChecks() (list []checktest.Check) {
	for _, set := range Available() {
		if set != isa.Portable {
			list = append(list, checktest.Check{Name: "arguments, " + set, Of: func(t *testing.T) { argumentsAreTaken(t, set) }})
		}
	}
	return list
}

// What functions are called with, all of it constant: two rows of a step, and one of cells.
const (
	cellsApart                            = 3 * Lanes
	stepN, stepRows                       = Lanes + 4, 2
	stepStride, stepField, stepTo         = stepN + 2, stepN + 1, stepN + 3
	alongApart                            = 0.3
	northApart, southApart                = 0.7, 0.1
	belowApart, aboveApart                = 0.9, 1.3
	shareA, shareB, shareC, shareD        = 0.25, 0.75, 0.4, 1
	scaleApart, keepApart, muApart        = 1 << 20, 0.6, 0.11
	second512, second256           uint64 = 0xaaaa, 0xffffffff00000000
)

// places are arguments in memory, so that no register has the right value by chance.
// Functions that accumulate are called twice, so that their sums do not start from 0.
type places struct {
	sums                                                                 *float64
	v0, b, over, width, link, diag, f, above, below, south, north, u, to *float32
}

//go:noinline
func (p *places) call256(what string) {
	switch what {
	case "begin":
		begin256(p.u, p.f, p.diag, cellsApart, second256)
	case "relax":
		relax256(p.u, p.north, p.south, p.below, p.above, p.f, p.diag, p.link, p.width, cellsApart, alongApart, northApart, southApart, belowApart, aboveApart, second256)
	case "remain":
		remain256(p.to, p.u, p.north, p.south, p.below, p.above, p.f, p.diag, p.link, p.width, cellsApart, alongApart, northApart, southApart, belowApart, aboveApart)
	case "rest":
		rest256(p.sums, p.to, p.u, p.north, p.south, p.below, p.above, p.link, p.width, p.over, p.b, p.v0, cellsApart, float64(float32(alongApart)), float64(float32(northApart)), float64(float32(southApart)), float64(float32(belowApart)), float64(float32(aboveApart)), scaleApart)
		rest256(p.sums, p.to, p.u, p.north, p.south, p.below, p.above, p.link, p.width, p.over, p.b, p.v0, cellsApart, float64(float32(alongApart)), float64(float32(northApart)), float64(float32(southApart)), float64(float32(belowApart)), float64(float32(aboveApart)), scaleApart)
	case "blend":
		blend256(p.to, p.f, p.v0, p.diag, p.b, cellsApart, shareA, shareB, shareC, shareD)
	case "turn":
		turn256(p.to, p.f, cellsApart, keepApart)
	case "advance":
		advance256(p.to, p.f, cellsApart, keepApart)
	case "dot":
		dot256(p.sums, p.f, p.v0, cellsApart)
		dot256(p.sums, p.f, p.v0, cellsApart)
	case "plane":
		plane256(p.to, p.u, p.north, p.south, p.v0, p.b, stepN, stepRows, stepTo*size, stepStride*size, stepField*size, muApart, 4)
	case "volume":
		volume256(p.to, p.u, p.north, p.south, p.below, p.above, p.v0, p.b, stepN, stepRows, stepTo*size, stepStride*size, stepField*size, muApart, 6)
	}
}

//go:noinline
func (p *places) call512(what string) {
	switch what {
	case "begin":
		begin512(p.u, p.f, p.diag, cellsApart, second512)
	case "relax":
		relax512(p.u, p.north, p.south, p.below, p.above, p.f, p.diag, p.link, p.width, cellsApart, alongApart, northApart, southApart, belowApart, aboveApart, second512)
	case "remain":
		remain512(p.to, p.u, p.north, p.south, p.below, p.above, p.f, p.diag, p.link, p.width, cellsApart, alongApart, northApart, southApart, belowApart, aboveApart)
	case "rest":
		rest512(p.sums, p.to, p.u, p.north, p.south, p.below, p.above, p.link, p.width, p.over, p.b, p.v0, cellsApart, float64(float32(alongApart)), float64(float32(northApart)), float64(float32(southApart)), float64(float32(belowApart)), float64(float32(aboveApart)), scaleApart)
		rest512(p.sums, p.to, p.u, p.north, p.south, p.below, p.above, p.link, p.width, p.over, p.b, p.v0, cellsApart, float64(float32(alongApart)), float64(float32(northApart)), float64(float32(southApart)), float64(float32(belowApart)), float64(float32(aboveApart)), scaleApart)
	case "blend":
		blend512(p.to, p.f, p.v0, p.diag, p.b, cellsApart, shareA, shareB, shareC, shareD)
	case "turn":
		turn512(p.to, p.f, cellsApart, keepApart)
	case "advance":
		advance512(p.to, p.f, cellsApart, keepApart)
	case "dot":
		dot512(p.sums, p.f, p.v0, cellsApart)
		dot512(p.sums, p.f, p.v0, cellsApart)
	case "plane":
		plane512(p.to, p.u, p.north, p.south, p.v0, p.b, stepN, stepRows, stepTo*size, stepStride*size, stepField*size, muApart, 4)
	case "volume":
		volume512(p.to, p.u, p.north, p.south, p.below, p.above, p.v0, p.b, stepN, stepRows, stepTo*size, stepStride*size, stepField*size, muApart, 6)
	}
}

// A function takes all that it is called with from its arguments: it sets what the one in Go does.
func argumentsAreTaken(t *testing.T, set string) {
	rng := rand.New(rand.NewPCG(5, 6))
	list := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(math.Ldexp(rng.Float64()-0.5, -rng.IntN(9)))
		}
		return out
	}
	const n = cellsApart
	row := func(k int) int { return 1 + k*(n+1) }
	r := Row{U: list(row(5)), At: row(2), North: row(1), South: row(3), Below: row(0), Above: row(4), N: n, F: list(n), Diag: list(n), Link: list(n + 1), Width: list(n),
		Along: alongApart, LinkNorth: northApart, LinkSouth: southApart, LinkBelow: belowApart, LinkAbove: aboveApart}
	of := Rest{B: list(n), V0: list(n), Over: list(n), To: list(n), Scale: scaleApart}
	step := func(r *Row, of *Rest) *Step {
		return &Step{V: r.U[r.At-1:], North: r.U[r.North:], South: r.U[r.South:], V0: of.V0, B: of.B, Dst: of.To, N: stepN, Count: stepRows, Stride: stepStride, FieldStride: stepField, DstStride: stepTo, Mu: muApart}
	}
	for what, inGo := range map[string]func(r *Row, of *Rest){
		"begin": func(r *Row, _ *Rest) { begin(r, 1) }, "relax": func(r *Row, _ *Rest) { relax(r, 1) },
		"remain": func(r *Row, of *Rest) { remain(r, of.To) }, "rest": func(r *Row, of *Rest) { rest(r, of) },
		"blend": func(r *Row, of *Rest) {
			blend(of.To, &[4][]float32{r.F, of.V0, r.Diag, of.B}, &[4]float32{shareA, shareB, shareC, shareD})
		},
		"turn":    func(r *Row, of *Rest) { turn(of.To, r.F, keepApart) },
		"advance": func(r *Row, of *Rest) { advance(of.To, r.F, keepApart) },
		"dot":     func(r *Row, of *Rest) { dot(r.F, of.V0, &of.Sums) },
		"plane":   func(r *Row, of *Rest) { Portable(step(r, of)) },
		"volume": func(r *Row, of *Rest) {
			s := step(r, of)
			s.Below, s.Above = r.U[r.Below:], r.U[r.Above:]
			Portable(s)
		},
	} {
		copied := func() (Row, Rest) {
			r, of := r, of
			r.U, of.To = slices.Clone(r.U), slices.Clone(of.To)
			return r, of
		}
		wantRow, wantRest := copied()
		inGo(&wantRow, &wantRest)
		gotRow, gotRest := copied()
		at := func(i int) *float32 { return &gotRow.U[i] }
		p := places{sums: &gotRest.Sums[0], v0: &of.V0[0], b: &of.B[0], over: &of.Over[0], width: &r.Width[0], link: &r.Link[0], diag: &r.Diag[0], f: &r.F[0],
			above: at(r.Above), below: at(r.Below), south: at(r.South), north: at(r.North), u: at(r.At), to: &gotRest.To[0]}
		if set == isa.AVX2 {
			p.call256(what)
		} else {
			p.call512(what)
		}
		if !slices.Equal(gotRow.U, wantRow.U) || !slices.Equal(gotRest.To, wantRest.To) || gotRest.Sums != wantRest.Sums {
			t.Errorf("%s: %s has other values than in Go", set, what)
		}
	}
}
