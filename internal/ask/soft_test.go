package ask

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/softecc"
)

// asked computes the soft curves of images and their gradients as a caller does.
func asked(ctx context.Context, r Soft, images []float32, g []float64) (m SoftMemory, err error) {
	m = SoftMemory{Voxels: grid.Bytes(images), Changes: make([]byte, len(images)), Numbers: make([]float64, 3*len(g))}
	r.Derivatives = true
	if err := r.Answer(ctx, m); err != nil {
		return m, err
	}
	r.Backward = true
	back := SoftMemory{Voxels: m.Voxels, Changes: m.Changes, Numbers: g, Gradient: grid.Bytes(make([]float32, len(images))), Parameters: make([]float64, 4*r.Images)}
	err = r.Answer(ctx, back)
	m.Gradient, m.Parameters = back.Gradient, back.Parameters
	return m, err
}

// A request on one thread starts no goroutine.
func TestSoftOnOneThread(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	created := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which starts goroutines
	r := Soft{Shape: []int64{41, 40, 33}, Type: "float32", Images: 2, Threads: 1, Construction: "T", Thresholds: []float64{0.7, 0.2}, Lambda: 30, Direction: []float64{0, 0, 1}}
	metrics.Read(created)
	before := created[0].Value.Uint64()
	if _, err := asked(t.Context(), r, make([]float32, 2*41*40*33), make([]float64, 4)); err != nil {
		t.Fatal(err)
	}
	metrics.Read(created)
	if n := created[0].Value.Uint64() - before; n > 0 {
		t.Errorf("%d goroutines", n)
	}
}

// TestSoft compares batches of images of 1 to 3 axes in both constructions with the definition.
func TestSoft(t *testing.T) {
	const images = 3
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][]int64{{7}, {5, 6}, {3, 4, 5}, {1, 6, 5}, {41, 40, 33}} {
		s, err := grid.ShapeOf(shape)
		if err != nil {
			t.Fatal(err)
		}
		voxels := make([]float32, images*s.Voxels())
		for i := range voxels {
			voxels[i] = rng.Float32()
		}
		for _, construction := range []string{"T", "V"} {
			r := Soft{Shape: shape, Type: "float32", Images: images, Threads: 4, Construction: construction, Thresholds: []float64{0.7, 0.2, 0.5}, Lambda: 30, Alpha: 0.02}
			for range shape {
				r.Direction = append(r.Direction, rng.NormFloat64())
			}
			var g []float64
			for range images * len(r.Thresholds) {
				g = append(g, rng.NormFloat64())
			}
			before := slices.Clone(voxels)
			m, err := asked(t.Context(), r, voxels, g)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(before, voxels) {
				t.Fatal("the voxels were written to")
			}
			alone := SoftMemory{Voxels: m.Voxels, Changes: m.Changes, Numbers: make([]float64, len(g))}
			if err := r.Answer(t.Context(), alone); err != nil {
				t.Fatal(err)
			}
			for i := range images {
				n, tau := int(s.Voxels()), len(r.Thresholds)
				f, err := grid.Trusted(s, grid.Float32, grid.Bytes(voxels[i*n:][:n]), grid.Identity(grid.Float32))
				if err != nil {
					t.Fatal(err)
				}
				p := &softecc.Problem{Source: f, Tau: r.Thresholds, G: g[i*tau:][:tau], Lambda: r.Lambda, Alpha: r.Alpha, Vertices: construction == "V"}
				for k, v := range r.Direction {
					p.V[len(shape)-1-k] = v
				}
				want, err := softecc.Define(p)
				if err != nil {
					t.Fatal(err)
				}
				numbers, by := m.Numbers[3*i*tau:], m.Parameters[4*i:]
				if !slices.Equal(alone.Numbers[i*tau:][:tau], numbers[:tau]) {
					t.Errorf("%v %s image %d: without derivatives another curve", shape, construction, i)
				}
				got := softecc.Answer{Chi: numbers[:tau], DX: grid.Values[float32](m.Gradient)[i*n:][:n], DV: [3]float64(by), Alpha: by[3]}
				for j, g := range p.G {
					got.DTau = append(got.DTau, g*numbers[tau+j])
					got.Lambda += g * numbers[2*tau+j]
				}
				if d, _ := softecc.Policy().Compare(p, want, got); d != nil {
					t.Errorf("%v %s image %d: %v", shape, construction, i, d)
				}
			}
		}
	}
}

// A request is brief if its voxels and numbers are few, whatever they overflow.
func TestSoftBrief(t *testing.T) {
	for want, change := range map[string]func(*Soft){
		"true: the most voxels":  func(r *Soft) { r.Shape, r.Images = []int64{1 << 9, 1 << 7}, 4 },
		"false: more voxels":     func(r *Soft) { r.Shape, r.Images = []int64{1 << 9, 1 << 7}, 5 },
		"true: the most numbers": func(r *Soft) { r.Images, r.Thresholds = 1<<13, make([]float64, 4) },
		"false: more numbers":    func(r *Soft) { r.Images, r.Thresholds = 1<<13, make([]float64, 5) },
		"false: float64":         func(r *Soft) { r.Type = "float64" },
		"false: 2⁶⁴ voxels":      func(r *Soft) { r.Shape = []int64{1 << 32, 1 << 32} },
		"false: 2⁶² images":      func(r *Soft) { r.Images = 1 << 62 },
		"false: no voxels":       func(r *Soft) { r.Shape = []int64{0, 3} },
	} {
		r := Soft{Shape: []int64{3, 2}, Type: "float32", Images: 1, Thresholds: []float64{1}}
		if change(&r); r.Brief() != strings.HasPrefix(want, "true") {
			t.Errorf("want %s", want)
		}
	}
}

func TestSoftRefused(t *testing.T) {
	for want, change := range map[string]func(*Soft){
		"want an image of 1 to 3": func(r *Soft) { r.Shape = []int64{1, 1, 2, 2} },
		"0 images: want":          func(r *Soft) { r.Images = 0 },
		"threads 0: want 1 to":    func(r *Soft) { r.Threads = 0 },
		"want T or V":             func(r *Soft) { r.Construction = "" },
		"a direction of 1":        func(r *Soft) { r.Direction = []float64{1} },
		"λ is -1":                 func(r *Soft) { r.Lambda = -1 },
		"0 thresholds":            func(r *Soft) { r.Thresholds = nil },
		"length of the direc":     func(r *Soft) { r.Direction = []float64{0, 0} },
		`type "float16"`:          func(r *Soft) { r.Type = "float16" },
		"want 16 of 1 × 2x2":      func(r *Soft) { r.Shape = []int64{2, 2} },
		"voxels of 24 bytes":      func(r *Soft) { r.Type = "float64" },
	} {
		r := Soft{Shape: []int64{3, 2}, Type: "float32", Images: 1, Threads: 1, Construction: "T", Thresholds: []float64{1}, Lambda: 1, Direction: []float64{1, 0}}
		change(&r)
		if _, err := asked(t.Context(), r, make([]float32, 6), make([]float64, 1)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := Soft{Shape: []int64{3, 2}, Type: "float32", Images: 1, Threads: 1, Construction: "T", Thresholds: []float64{1}, Lambda: 1, Direction: []float64{1, 0}}
	if _, err := asked(ctx, r, make([]float32, 6), make([]float64, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
