package foreign

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/peers"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/softecc"
)

func same(in grid.Source) grid.Source { return in }

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

// Curves asks for the changes of the Euler characteristic: int64[levels].
func Curves(p *peers.Peer, workload string) []bench.Implementation[grid.Source, ecc.VCEC] {
	return implementations(p, workload, question[grid.Source, ecc.VCEC]{
		image: same, words: nothing[grid.Source], levels: true,
		parts: func(in grid.Source) []part { return []part{{"answer", "<i8", []int64{in.Ladder().Len()}}} },
		read: func(_ grid.Source, a []*peers.Array) ecc.VCEC {
			return ecc.FromDense(grid.Values[int64](a[0].Data()))
		},
	})
}

// Betti asks for the Betti numbers of the voxels not above a threshold: int64[3].
func Betti(p *peers.Peer, workload string) []bench.Implementation[*betti.Image, betti.Numbers] {
	return ofSet(p, workload, 3)
}

// Number asks for one number of the voxels not above a threshold: int64[1].
func Number(p *peers.Peer, workload string) []bench.Implementation[*betti.Image, betti.Numbers] {
	return ofSet(p, workload, 1)
}

// ofSet asks for the first count numbers of a set.
func ofSet(p *peers.Peer, workload string, count int64) []bench.Implementation[*betti.Image, betti.Numbers] {
	return implementations(p, workload, question[*betti.Image, betti.Numbers]{
		image: func(in *betti.Image) grid.Source { return in.Source },
		words: func(in *betti.Image) []string {
			return []string{decimal("threshold", float64(in.Threshold), 32)}
		},
		parts: func(*betti.Image) []part { return []part{{"answer", "<i8", []int64{count}}} },
		read: func(_ *betti.Image, a []*peers.Array) betti.Numbers {
			n := append(slices.Clone(grid.Values[int64](a[0].Data())), 0, 0)
			return betti.Numbers{B0: n[0], B1: n[1], B2: n[2]}
		},
	})
}

// BettiCurves asks for the changes of the Betti numbers: int64[levels][3].
func BettiCurves(p *peers.Peer, workload string) []bench.Implementation[grid.Source, betti.Curves] {
	return implementations(p, workload, question[grid.Source, betti.Curves]{
		image: same, words: nothing[grid.Source], levels: true,
		parts: func(in grid.Source) []part { return []part{{"answer", "<i8", []int64{in.Ladder().Len(), 3}}} },
		read: func(in grid.Source, a []*peers.Array) (c betti.Curves) {
			n := grid.Values[int64](a[0].Data())
			for level := range in.Ladder().Len() {
				change := betti.Numbers{B0: n[3*level], B1: n[3*level+1], B2: n[3*level+2]}
				if change != (betti.Numbers{}) {
					c = append(c, betti.Change{Level: level, Numbers: change})
				}
			}
			return c
		},
	})
}

// Flows asks for the field after some steps: float32[axes, x first][…].
func Flows(p *peers.Peer, workload string) []bench.Implementation[*gvf.Problem, gvf.Flow] {
	return implementations(p, workload, question[*gvf.Problem, gvf.Flow]{
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
		read: func(in *gvf.Problem, a []*peers.Array) (f gvf.Flow) {
			for list := range slices.Chunk(grid.Values[float32](a[0].Data()), int(in.Shape().Voxels())) {
				f.V = append(f.V, slices.Clone(list))
			}
			return f
		},
	})
}

// Eigenmaps asks for the lowest eigenpairs of the graph of voxels: float64[k], and
// float64[k][…] for the vectors.
func Eigenmaps(p *peers.Peer, workload string) []bench.Implementation[*eigenmap.Problem, eigenmap.Map] {
	return implementations(p, workload, question[*eigenmap.Problem, eigenmap.Map]{
		image:  func(in *eigenmap.Problem) grid.Source { return in.Source },
		refuse: func(in *eigenmap.Problem) error { return in.For(eigenmap.Grid) },
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
		read: func(in *eigenmap.Problem, a []*peers.Array) eigenmap.Map {
			m := eigenmap.Map{Values: slices.Clone(grid.Values[float64](a[0].Data()))}
			for list := range slices.Chunk(grid.Values[float64](a[1].Data()), int(in.Nodes().Voxels())) {
				m.Vectors = append(m.Vectors, slices.Clone(list))
			}
			return m
		},
	})
}

// mostThresholds is the number of thresholds of a soft curve that fit on a line of the protocol.
const mostThresholds = 1000

// SoftCurves asks for the soft curve at some thresholds and its gradients: float64[m] twice, float32[…],
// float64[3] and float64[2].
func SoftCurves(p *peers.Peer, workload string) []bench.Implementation[*softecc.Problem, softecc.Answer] {
	return implementations(p, workload, question[*softecc.Problem, softecc.Answer]{
		image: func(in *softecc.Problem) grid.Source { return in.Source },
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
		read: func(_ *softecc.Problem, a []*peers.Array) softecc.Answer {
			scales := grid.Values[float64](a[4].Data())
			return softecc.Answer{
				Chi: slices.Clone(grid.Values[float64](a[0].Data())), DTau: slices.Clone(grid.Values[float64](a[1].Data())),
				DX: slices.Clone(grid.Values[float32](a[2].Data())), DV: [3]float64(grid.Values[float64](a[3].Data())),
				Lambda: scales[0], Alpha: scales[1],
			}
		},
	})
}
