package library

import (
	"encoding/binary"
	"math"

	bettidirect "eccbench/impls/betti/duality"
	"eccbench/impls/betticurves/duality"
	"eccbench/impls/extrema"
	"eccbench/internal/ask"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
)

// betti returns the Betti numbers of an image.
func (r Request) betti(a Answer, s, in grid.Source, c ecc.Convention) (Answer, error) {
	if r.Part != nil {
		return r.bettiPart(a, s, in, c)
	}
	if len(r.At) > 0 {
		return r.bettiAt(a, s, in, c)
	}
	out, err := answered(&a, bettiCurves(c), in, r)
	if err != nil {
		return a, err
	}
	lines := betti.LinesOf(s, out, c)
	a.lines, a.Rows = bettiLines{lines}, lines.Len()
	return a, nil
}

// bettiCurves returns the implementation and the witness of the Betti numbers at every level in a
// convention. A union-find verifies the answer; with periodic axes it is a flood fill of every set.
func bettiCurves(c ecc.Convention) bench.Workload[grid.Source, betti.Curves] {
	by := duality.Implementation{Counter: extrema.Implementation{}}
	w, _ := ask.BettiCurves(bench.Workload[grid.Source, betti.Curves]{
		Impls: []bench.Implementation[grid.Source, betti.Curves]{by}}, c)
	if c.Periodic != (grid.Axes{}) {
		return w
	}
	w.Policy = verify.Policy[grid.Source, betti.Curves]{Laws: []verify.Law[grid.Source, betti.Curves]{betti.Unions(c)}}
	return w
}

type bettiLines struct{ betti.Lines }

func (bettiLines) columns() int64 { return 3 }

func (l bettiLines) fill(t *table) {
	var at []byte
	l.Each(func(level float32, n betti.Numbers) {
		at = l.Labels.AppendBytes(at[:0], level)
		t.put(at, n.B0, n.B1, n.B2)
	})
}

// BettiAt returns the implementation of the Betti numbers of a set in a convention, and the flood fill that confirms
// them.
func BettiAt(c ecc.Convention) bench.Workload[*betti.Image, betti.Numbers] {
	w, _ := ask.BettiAt(bench.Workload[*betti.Image, betti.Numbers]{
		Impls: []bench.Implementation[*betti.Image, betti.Numbers]{bettidirect.Implementation{}}}, c)
	if c == (ecc.Convention{}) { // other laws are of runs
		w.Policy = verify.Policy[*betti.Image, betti.Numbers]{Laws: []verify.Law[*betti.Image,
			betti.Numbers]{betti.Flooding(c)}}
	}
	return w
}

// bettiAt is the answer at some values.
func (r Request) bettiAt(a Answer, s, in grid.Source, c ecc.Convention) (Answer, error) {
	w := BettiAt(c)
	rows := bettiRows{at: r.At}
	for _, value := range r.At {
		if err := grid.Ended(in); err != nil {
			return a, err
		}
		out, err := answered(&a, w, &betti.Image{Source: in, Threshold: betti.Threshold(s, value, c.Superlevel)}, r)
		if err != nil {
			return a, err
		}
		rows.numbers = append(rows.numbers, out)
	}
	a.lines, a.Rows, a.Levels = rows, int64(len(rows.at)), "<f8"
	return a, nil
}

type bettiRows struct {
	at      []grid.Number
	numbers []betti.Numbers
}

func (bettiRows) columns() int64 { return 3 }

func (l bettiRows) fill(t *table) {
	for i, n := range l.numbers {
		t.put(binary.LittleEndian.AppendUint64(nil, math.Float64bits(l.at[i].Float64())), n.B0, n.B1, n.B2)
	}
}
