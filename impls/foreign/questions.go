package foreign

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eccbench/internal/grid"
	"eccbench/internal/peers"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/softecc"
)

func same(in grid.Source) grid.Source { return in }

func asked(in grid.Source, _ words) (grid.Source, error) { return in, nil }

func nothing[In any](In) []string { return nil }

// decimal returns KEY=VALUE with the shortest text that reads back as the same number.
func decimal(key string, v float64, bits int) string {
	return key + "=" + strconv.FormatFloat(v, 'g', -1, bits)
}

// decimals returns KEY=VALUE,VALUE… in the same way.
func decimals(key string, list []float64) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return key + "=" + strings.Join(texts, ",")
}

// Curves returns the question for the changes of the Euler characteristic: int64[levels].
func Curves() Question {
	return typed[grid.Source, ecc.VCEC]{
		image: same, words: nothing[grid.Source], levels: true,
		parts: func(in grid.Source) []part { return []part{{"answer", "<i8", []int64{in.Ladder().Len()}}} },
		read: func(_ grid.Source, a [][]byte) ecc.VCEC {
			return ecc.FromDense(grid.Values[int64](a[0]))
		},
		edits: func(in grid.Source, data []byte, c peers.Claim, earlier edits) edits {
			return planEdits(in, data, c.Construction == "V", earlier)
		},
		input: asked,
		write: func(v ecc.VCEC, a [][]byte) {
			changes := grid.Values[int64](a[0])
			clear(changes)
			for level, change := range v.All() {
				changes[level] = change
			}
		},
	}.untyped()
}

// Betti returns the question for the Betti numbers of the voxels not above a threshold: int64[3].
func Betti() Question {
	return ofSet(func(n betti.Numbers) []int64 { return []int64{n.B0, n.B1, n.B2} })
}

// Number returns the question for one number of the voxels not above a threshold: int64[1].
func Number() Question {
	return ofSet(func(n betti.Numbers) []int64 { return []int64{n.B0} })
}

// ofSet returns the question for numbers of a set.
func ofSet(of func(betti.Numbers) []int64) Question {
	return typed[*betti.Image, betti.Numbers]{
		image: func(in *betti.Image) grid.Source { return in.Source },
		words: func(in *betti.Image) []string {
			return []string{decimal("threshold", float64(in.Threshold), 32)}
		},
		parts: func(*betti.Image) []part {
			return []part{{"answer", "<i8", []int64{int64(len(of(betti.Numbers{})))}}}
		},
		read: func(_ *betti.Image, a [][]byte) betti.Numbers {
			n := append(slices.Clone(grid.Values[int64](a[0])), 0, 0)
			return betti.Numbers{B0: n[0], B1: n[1], B2: n[2]}
		},
		input: func(s grid.Source, w words) (*betti.Image, error) {
			threshold, err := strconv.ParseFloat(w["threshold"], 32)
			return &betti.Image{Source: s, Threshold: float32(threshold)}, err
		},
		write: func(n betti.Numbers, a [][]byte) { copy(grid.Values[int64](a[0]), of(n)) },
	}.untyped()
}

// BettiCurves returns the question for the changes of the Betti numbers: int64[levels][3].
func BettiCurves() Question {
	return typed[grid.Source, betti.Curves]{
		image: same, words: nothing[grid.Source], levels: true,
		parts: func(in grid.Source) []part { return []part{{"answer", "<i8", []int64{in.Ladder().Len(), 3}}} },
		read: func(in grid.Source, a [][]byte) (c betti.Curves) {
			n := grid.Values[int64](a[0])
			for level := range in.Ladder().Len() {
				change := betti.Numbers{B0: n[3*level], B1: n[3*level+1], B2: n[3*level+2]}
				if change != (betti.Numbers{}) {
					c = append(c, betti.Change{Level: level, Numbers: change})
				}
			}
			return c
		},
		input: asked,
		write: func(c betti.Curves, a [][]byte) {
			numbers := grid.Values[int64](a[0])
			clear(numbers)
			for _, d := range c {
				copy(numbers[3*d.Level:], []int64{d.B0, d.B1, d.B2})
			}
		},
	}.untyped()
}

// Flows returns the question for the field after some steps: float32[axes, x first][…].
func Flows() Question {
	return typed[*gvf.Problem, gvf.Flow]{
		image: func(in *gvf.Problem) grid.Source { return in.Source },
		refuse: func(in *gvf.Problem) error {
			if in.V0 != nil || in.Mask != nil || in.Tol != 0 || in.Storage != gvf.Float32 {
				return errors.New("peers are asked for steps from the image's gradient alone, in float32 and without a mask")
			}
			return in.Check()
		},
		words: func(in *gvf.Problem) []string {
			mu := decimal("mu", float64(in.Mu), 32)
			return []string{fmt.Sprintf("steps=%d", in.Steps), mu, "boundary=" + in.Boundary.String()}
		},
		parts: func(in *gvf.Problem) []part {
			return []part{{"answer", "<f4", append([]int64{int64(in.Dim())}, in.Shape().Sides()...)}}
		},
		read: func(in *gvf.Problem, a [][]byte) (f gvf.Flow) {
			for list := range slices.Chunk(grid.Values[float32](a[0]), int(in.Shape().Voxels())) {
				f.V = append(f.V, slices.Clone(list))
			}
			return f
		},
		input: func(s grid.Source, w words) (*gvf.Problem, error) {
			steps, err := strconv.ParseInt(w["steps"], 10, 64)
			if err != nil {
				return nil, err
			}
			mu, err := strconv.ParseFloat(w["mu"], 32)
			boundary := gvf.Replicate
			if w["boundary"] == gvf.Third.String() {
				boundary = gvf.Third
			}
			return gvf.NewProblem(s, float32(mu), steps, 0, boundary), err
		},
		write: func(f gvf.Flow, a [][]byte) {
			to := grid.Values[float32](a[0])
			for _, list := range f.V {
				to = to[copy(to, list):]
			}
		},
	}.untyped()
}

// Eigenmaps returns the question for the lowest eigenpairs of the graph of voxels: float64[k], and
// float64[k][…] for the vectors.
func Eigenmaps() Question {
	return typed[*eigenmap.Problem, eigenmap.Map]{
		image:  func(in *eigenmap.Problem) grid.Source { return in.Source },
		refuse: func(in *eigenmap.Problem) error { return in.CheckKind(eigenmap.Grid) },
		caches: true,
		words: func(in *eigenmap.Problem) []string {
			return []string{
				decimal("tol", in.Tol, 64), decimal("sigma", in.Sigma, 64), decimal("floor", in.Floor, 64),
				fmt.Sprintf("k=%d", in.K), fmt.Sprintf("radius=%d", in.Radius),
				fmt.Sprintf("corners=%t", in.Corners), fmt.Sprintf("plain=%t", in.Plain),
			}
		},
		parts: func(in *eigenmap.Problem) []part {
			k := []int64{int64(in.K)}
			return []part{{"answer", "<f8", k}, {"answer.vectors", "<f8", append(k, in.Shape().Sides()...)}}
		},
		read: func(in *eigenmap.Problem, a [][]byte) eigenmap.Map {
			m := eigenmap.Map{Values: slices.Clone(grid.Values[float64](a[0]))}
			for list := range slices.Chunk(grid.Values[float64](a[1]), int(in.Nodes().Voxels())) {
				m.Vectors = append(m.Vectors, slices.Clone(list))
			}
			return m
		},
		input: func(s grid.Source, w words) (*eigenmap.Problem, error) {
			var whole [2]int64
			var real [3]float64
			for i, key := range []string{"k", "radius"} {
				var err error
				if whole[i], err = strconv.ParseInt(w[key], 10, 64); err != nil {
					return nil, err
				}
			}
			for i, key := range []string{"tol", "sigma", "floor"} {
				var err error
				if real[i], err = strconv.ParseFloat(w[key], 64); err != nil {
					return nil, err
				}
			}
			corners, plain := w["corners"] == "true", w["plain"] == "true"
			return eigenmap.OfVoxels(s, int(whole[0]), real[0], real[1], real[2], corners, plain).WithRadius(whole[1]), nil
		},
		write: func(m eigenmap.Map, a [][]byte) {
			copy(grid.Values[float64](a[0]), m.Values)
			to := grid.Values[float64](a[1])
			for _, list := range m.Vectors {
				to = to[copy(to, list):]
			}
		},
	}.untyped()
}

// mostThresholds is the number of thresholds of a soft curve that fit on a line of the protocol.
const mostThresholds = 1000

// SoftCurves returns the question for the soft curve at some thresholds and its gradients:
// float64[m] twice, float32[…], float64[3] and float64[2].
func SoftCurves() Question {
	return typed[*softecc.Problem, softecc.Answer]{
		image: func(in *softecc.Problem) grid.Source { return in.Source },
		tuned: true,
		refuse: func(in *softecc.Problem) error {
			if in.Vertices {
				return errors.New("peers are asked for soft curves of the T-construction")
			}
			if len(in.Tau) > mostThresholds {
				return fmt.Errorf("peers are asked for at most %d thresholds, not %d", mostThresholds, len(in.Tau))
			}
			return in.Check()
		},
		words: func(in *softecc.Problem) []string {
			return []string{
				decimals("thresholds", in.Tau), decimals("upstream", in.G), decimals("direction", in.V[:]),
				decimal("lambda", in.Lambda, 64), decimal("alpha", in.Alpha, 64),
			}
		},
		parts: func(in *softecc.Problem) []part {
			m := []int64{int64(len(in.Tau))}
			return []part{
				{"answer", "<f8", m}, {"answer.thresholds", "<f8", m}, {"answer.image", "<f4", in.Shape().Sides()},
				{"answer.direction", "<f8", []int64{3}}, {"answer.scales", "<f8", []int64{2}},
			}
		},
		read: func(_ *softecc.Problem, a [][]byte) softecc.Answer {
			scales := grid.Values[float64](a[4])
			return softecc.Answer{
				Chi:  slices.Clone(grid.Values[float64](a[0])),
				DTau: slices.Clone(grid.Values[float64](a[1])),
				DX:   slices.Clone(grid.Values[float32](a[2])), DV: [3]float64(grid.Values[float64](a[3])),
				Lambda: scales[0], Alpha: scales[1],
			}
		},
		input: softProblem,
		write: func(s softecc.Answer, a [][]byte) {
			copy(grid.Values[float64](a[0]), s.Chi)
			copy(grid.Values[float64](a[1]), s.DTau)
			copy(grid.Values[float32](a[2]), s.DX)
			copy(grid.Values[float64](a[3]), s.DV[:])
			copy(grid.Values[float64](a[4]), []float64{s.Lambda, s.Alpha})
		},
	}.untyped()
}

// softProblem makes the problem of a question of SoftCurves.
func softProblem(s grid.Source, w words) (*softecc.Problem, error) {
	lists := map[string][]float64{}
	for _, key := range []string{"thresholds", "upstream", "direction", "lambda", "alpha"} {
		for _, text := range strings.Split(w[key], ",") {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, err
			}
			lists[key] = append(lists[key], v)
		}
	}
	if n := len(lists["direction"]); n != 3 {
		return nil, fmt.Errorf("a direction of %d numbers, want 3", n)
	}
	p := &softecc.Problem{
		Source: s, Tau: lists["thresholds"], G: lists["upstream"], V: [3]float64(lists["direction"]),
		Lambda: lists["lambda"][0], Alpha: lists["alpha"][0],
	}
	return p, p.Check()
}
