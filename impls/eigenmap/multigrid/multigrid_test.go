package multigrid

import (
	"math"
	"slices"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/verify/judgedtest"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/eigenmap/eigentest"
)

func conditions(threads int) bench.Conditions {
	return bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: threads}}
}

func TestPolicyCatchesPlantedFaults(t *testing.T) {
	eigentest.Faults(t, eigenmap.OnGrid, Implementation{}, faulty())
}

// faulty are implementations with a mistake in the answer.
func faulty() map[string]eigentest.Implementation {
	list := map[string]eigentest.Implementation{}
	for name, spoil := range map[string]func(p *eigenmap.Problem, m eigenmap.Map){
		"the lowest pair above the kernel left out": func(p *eigenmap.Problem, m eigenmap.Map) {
			more := *p
			more.K++
			all, err := bench.Answer[*eigenmap.Problem, eigenmap.Map](Implementation{}, &more, conditions(2))
			if err != nil {
				return // there are no more pairs
			}
			copy(m.Values[1:], all.Values[2:])
			copy(m.Vectors[1:], all.Vectors[2:])
		},
		"the second vector a second time": func(_ *eigenmap.Problem, m eigenmap.Map) {
			if len(m.Values) > 2 {
				m.Values[2], m.Vectors[2] = m.Values[1], m.Vectors[1]
			}
		},
		"a guess of the pairs": func(_ *eigenmap.Problem, m eigenmap.Map) {
			if len(m.Values) > 2 {
				a, b := m.Vectors[1], m.Vectors[2]
				m.Vectors[1], m.Vectors[2] = make([]float64, len(a)), make([]float64, len(a))
				sin, cos := math.Sincos(1e-2)
				for i, v := range a {
					m.Vectors[1][i], m.Vectors[2][i] = cos*v+sin*b[i], cos*b[i]-sin*v
				}
			}
		},
		"the second value by float32, as 1 less a product": func(_ *eigenmap.Problem, m eigenmap.Map) {
			if len(m.Values) > 1 {
				m.Values[1] = float64(float32(1) - float32(1-m.Values[1]) + 1.0/(1<<24))
			}
		},
	} {
		list[name] = judgedtest.Spoiled(Implementation{}, func(p *eigenmap.Problem, m eigenmap.Map) eigenmap.Map {
			m.Values, m.Vectors = slices.Clone(m.Values), slices.Clone(m.Vectors)
			spoil(p, m)
			return m
		})
	}
	return list
}

func BenchmarkGrid(b *testing.B) {
	const of, corners = "eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=", "eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=1/plain=0/of="
	eigentest.Benchmark(b, Implementation{}, eigenmap.OnGrid,
		of+"grf/shape=512x512/levels=1024/type=float32/smooth=3/seed=1",
		of+"noise/shape=512x512/levels=1024/type=float32/seed=1",
		of+"ball/shape=512x512/type=uint8",
		of+"phantom/shape=512x512/type=uint8",
		of+"tubes/shape=512x512/levels=256/type=uint8/seed=1",
		of+"grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1",
		of+"grf/shape=96x96x96/levels=1024/type=float32/smooth=2/seed=1",
		corners+"grf/shape=64x64x64/levels=1024/type=float32/smooth=2/seed=1",
	)
}

func TestRefusals(t *testing.T) {
	eigentest.Refusals(t, Implementation{}, eigenmap.OnGrid, "eigenmap/k=4/tol=6/sigma=100/floor=1000/corners=0/plain=0/of=noise/shape=12x11x10/type=uint8/seed=5",
		map[string]bench.Conditions{"1320 voxels × 2² × 1500 ns": {Time: 1}, "bytes for each of 1320 voxels": {Memory: 1000}})
	// A tolerance below the rounding is an error that states the achieved residual.
	p := open(t, "eigenmap/k=2/tol=12/sigma=100/floor=1000/corners=0/plain=1/of=noise/shape=40x41/type=uint8/seed=5")
	if m, err := bench.Answer[*eigenmap.Problem, eigenmap.Map](Implementation{}, p, conditions(1)); err == nil {
		if r, _ := p.Residuals(m); Largest(r) > p.Tol {
			t.Errorf("residuals of %v are taken for %v", r, p.Tol)
		}
	}
}
