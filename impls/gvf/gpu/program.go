package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/gvf"
)

// Sizes of the kernels that compute V0 and b of an image (kernels/gvf/gvf_start.cu).
const (
	startWarps  = 8
	startBlocks = 8 // per multiprocessor
	extentParts = 1024
	extentBytes = 8 * extentParts
)

// A program is the kernels that compute V0 and b, and the kernels of the steps in order.
type program struct {
	resident.Objects
	p                                  *gvf.Problem
	extent, scale, gradient, magnitude device.Function
	work                               []work
}

// work is a pass with its kernel.
type work struct {
	pass
	function device.Function
}

// A memory is the buffers that a program uses.
type memory struct {
	image    device.Buffer
	parts    device.Buffer // the extent that each block has found
	exchange device.Buffer // for the exchange of pixels between blocks; nil if there is none
	number   int64         // of the last exchange
	v0, b    device.Buffer
	v        [2]device.Buffer // the field before and after a pass
}

// load loads the kernels and lists the passes.
func (g *program) load(plan func(*gvf.Problem, device.Info, int64) []pass) error {
	t := g.p.Type()
	extent, scale := fmt.Sprintf("gvf_extent_%v", t), fmt.Sprintf("gvf_scale_%v", t)
	starts := g.NewFunctions("gvf_start", extent, scale, "gvf_gradient"+suffix(g.p), "gvf_magnitude")
	g.extent, g.scale, g.gradient, g.magnitude = starts[0], starts[1], starts[2], starts[3]
	if g.Err() != nil || g.p.Steps == 0 || plan == nil {
		return g.Err()
	}
	names := map[string][]string{}
	for _, p := range plan(g.p, g.On.Info(), g.p.Steps) {
		g.work = append(g.work, work{pass: p})
		names[p.module] = append(names[p.module], p.kernel)
	}
	for module, kernels := range names {
		functions := g.NewFunctions(module, kernels...)
		if g.Err() != nil {
			return g.Err()
		}
		for i := range g.work {
			w := &g.work[i]
			if w.module != module {
				continue
			}
			w.function = functions[slices.Index(kernels, w.kernel)]
			if w.launch.Shared+w.function.Attributes().Shared > g.On.Info().Shared {
				if err := w.function.AllowShared(w.launch.Shared); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// steps enqueues the passes. The last one writes to the result.
func (g *program) steps(on device.Stream, m *memory) error {
	if len(g.work) == 0 {
		if err := on.Copy(m.v[0], 0, m.v0, 0, m.v0.Bytes()); err != nil {
			return err
		}
	}
	var left int64
	for _, w := range g.work {
		left += w.count
	}
	from := m.v0
	for _, w := range g.work {
		for range w.count {
			left--
			to := m.v[left%2]
			if err := g.pass(on, m, w, from, to); err != nil {
				return err
			}
			from = to
		}
	}
	return nil
}

// pass enqueues one launch of a pass.
func (g *program) pass(on device.Stream, m *memory, w work, from, to device.Buffer) error {
	s := g.p.Shape()
	args := []any{from, m.v0}
	if w.readsB {
		args = append(args, m.b)
	}
	args = append(args, to)
	if w.steps > 0 {
		// Exchanges are numbered across all calls, so that none reads the data of an earlier one.
		const most = math.MaxInt32
		count := grid.CeilDiv(w.steps, residentSteps)
		if m.number+count > most {
			m.number = 0
			if err := on.Fill(m.exchange, 0, m.exchange.Bytes(), 0); err != nil {
				return err
			}
		}
		args = append(args, m.exchange, int32(s.W), int32(s.H), int32(g.p.Boundary), g.p.Mu, int32(w.steps),
			int32(m.number+1))
		m.number += count
		return on.Launch(w.function, w.launch, args...)
	}
	args = append(args, int32(s.W), int32(s.H), int32(s.D), int32(g.p.Boundary), g.p.Mu)
	if w.length > 0 {
		args = append(args, int32(w.length))
	}
	return on.Launch(w.function, w.launch, args...)
}

// gradients enqueues V0 and b. The scaled image f uses the memory of the later field.
func (g *program) gradients(on device.Stream, m *memory) error {
	s := g.p.Shape()
	n, f := s.Voxels(), m.v[0]
	axes := []any{int32(s.W), int32(s.H), int32(s.D)}
	all := launch(max(1, min(grid.CeilDiv(n, 32*startWarps), int64(g.On.Info().SMs)*startBlocks)), startWarps, 0)
	if m.image == nil {
		return on.Launch(g.magnitude, all, append([]any{m.v0, m.b}, axes...)...)
	}
	parts := all
	parts.Grid.X = min(parts.Grid.X, extentParts)
	return errors.Join(
		on.Launch(g.extent, parts, m.image, n, m.parts),
		on.Launch(g.scale, all, m.image, n, m.parts, int32(parts.Grid.X), f),
		on.Launch(g.gradient, all, append([]any{f, m.v0, m.b}, axes...)...))
}
