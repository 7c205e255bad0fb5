package gpu

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/internal/workloads/gvf"
)

// slabDevices opens stand-ins that run the kernels of slabs. The streams of the name hurried run
// their work at once.
func slabDevices(t *testing.T, devices int, hurried string) resident.Opener {
	t.Helper()
	driver := standInDriver(t, devices, "", "gvf_start", "gvf_blocked")
	driver.Hurry(hurried)
	return ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))
}

// forced returns the implementation with fixed numbers of slabs, and of steps per visit.
func forced(t *testing.T, i Slabs, p *gvf.Problem, slabs, steps int64) Slabs {
	t.Helper()
	list, err := i.devices(bench.Conditions{Setting: bench.Setting{Devices: resident.All}})
	if err != nil {
		t.Fatal(err)
	}
	devices := int64(len(list))
	c := newCut(p, devices)
	c.slabs, c.steps = min(slabs, c.planes), steps
	c.devices = min(devices, c.slabs)
	i.force = &c
	return i
}

// wrongSlabs returns the first error in the answers of an implementation that uses all devices.
func wrongSlabs(t *testing.T, i Slabs, p *gvf.Problem, times int) error {
	t.Helper()
	return wrong(t, ofAll{i}, p, bench.E2E, times)
}

// ofAll runs on all devices.
type ofAll struct{ Slabs }

func (a ofAll) CanDo(p *gvf.Problem, c bench.Conditions) error {
	c.Devices = resident.All
	return a.Slabs.CanDo(p, c)
}

func (a ofAll) Setup(p *gvf.Problem, c bench.Conditions) (bench.Job[gvf.Flow], error) {
	c.Devices = resident.All
	return a.Slabs.Setup(p, c)
}

// inSlabs are problems with their cuts: into few slabs or one for each plane, with halos longer
// than a slab, and with odd and even numbers of visits and passes.
var inSlabs = []struct {
	name         string
	slabs, steps int64
}{
	{"gvf/steps=5/mu=80/boundary=0/of=noise/shape=20x9x11/type=uint8/seed=1", 2, 5},
	{"gvf/steps=5/mu=80/boundary=1/of=noise/shape=20x9x11/type=int16/levels=500/seed=2", 3, 2},
	{"gvf/steps=3/mu=80/boundary=0/of=noise/shape=9x5x4/type=float32/levels=1024/seed=3", 4, 1},
	{"gvf/steps=11/mu=100/boundary=1/of=noise/shape=7x6x9/type=uint16/levels=1024/seed=4", 5, 4},
	{"gvf/steps=9/mu=150/boundary=0/of=noise/shape=132x37/type=float32/levels=1024/seed=5", 3, 9},
	{"gvf/steps=11/mu=150/boundary=1/of=noise/shape=33x14/type=uint8/seed=6", 7, 4},
	{"gvf/steps=7/mu=80/boundary=1/of=noise/shape=9x5x29/type=uint8/seed=8", 3, 2},
	{"gvf/steps=6/mu=150/boundary=1/of=noise/shape=40x2/type=uint8/seed=7", 2, 2},
	{"gvf/steps=4/mu=80/boundary=1/of=noise/shape=1x19x2/type=int16/levels=1000/seed=2", 2, 1},
	{"gvf/steps=3/mu=80/boundary=0/of=noise/shape=1x1x37/type=uint8/levels=3/seed=3", 7, 2},
	{"gvf/steps=0/mu=80/boundary=0/of=noise/shape=9x7x5/type=uint8/seed=3", 5, 0},
	{"gvf/steps=2/mu=80/boundary=0/of=constant/shape=9x7x5/type=float32", 3, 1},
	{"gvf/steps=3/mu=50/boundary=0/of=noise/shape=1x1/type=uint8/seed=5", 1, 3},
}

// Slabs have the bits of the plain loop, on one device and on three. A device may have several
// slabs.
func TestSlabsOnHost(t *testing.T) {
	for _, several := range []bool{false, true} {
		i := Slabs{Open: slabDevices(t, 3, ""), several: several}
		testSlabs(t, i)
	}
}

func TestSlabsOnDevice(t *testing.T) {
	for _, several := range []bool{false, true} {
		testSlabs(t, Slabs{Open: ecctest.Device(t), several: several})
	}
}

func testSlabs(t *testing.T, i Slabs) {
	t.Helper()
	for k, c := range inSlabs {
		p := problemOf(t, c.name)
		if problem := wrongSlabs(t, forced(t, i, p, c.slabs, c.steps), p, 1+k%4/3); problem != nil {
			t.Errorf("several %v, %d slabs, %d steps a visit, %s: %v", i.several, c.slabs, c.steps, c.name, problem)
		}
		if k%3 > 0 {
			continue
		}
		f, err := gvf.Define(p, 0)
		if err != nil {
			t.Fatal(err)
		}
		given := p.Flowing(f.V, p.Steps)
		if problem := wrongSlabs(t, forced(t, i, given, c.slabs, c.steps), given, 1); problem != nil {
			t.Errorf("several %v, %d slabs, %d steps a visit, a field that is given, %s: %v", i.several, c.slabs, c.steps, c.name, problem)
		}
	}
}

// Planted faults of slabs are found. Faults in the order of streams show when one stream runs ahead
// of the others.
func TestFaultsOfSlabsAreSeenOnHost(t *testing.T) {
	const (
		volume = "gvf/steps=9/mu=80/boundary=0/of=noise/shape=12x9x11/type=float32/levels=1024/seed=1"
		flat   = "gvf/steps=9/mu=150/boundary=1/of=noise/shape=33x11/type=float32/levels=1024/seed=6"
	)
	for k, c := range []struct {
		fault   Fault
		hurried string
		several bool
		slabs   int64
	}{
		{ShortHalo, "", false, 5}, {ShortHalo, "", true, 2}, {OldHost, "", false, 3}, {LostSeam, "", false, 3}, {LostSeam, "", true, 2}, {OwnExtent, "", true, 3},
		{EarlyHalo, "fetching slabs", false, 3}, {EarlyHalo, "fetching slabs", true, 2}, {EarlyFetch, "fetching slabs", false, 5},
		{EarlyReturn, "slabs on their way back", false, 5}, {EarlyWork, "steps of slabs", false, 5}, {EarlyStore, "slabs on their way back", true, 4},
	} {
		name, hurried := []string{volume, flat}[k%2], c.hurried+", device 0"
		p := problemOf(t, name)
		i := forced(t, Slabs{Open: slabDevices(t, 2, hurried), several: c.several}, p, c.slabs, 4)
		if problem := wrongSlabs(t, i, p, 1); problem != nil {
			t.Errorf("%s ahead, %s: %v", hurried, name, problem)
		}
		i.fault = c.fault
		if wrongSlabs(t, i, p, 1) == nil {
			t.Errorf("%s: nobody sees %s", name, c.fault)
		}
	}
}

// Slabs stay within the device memory of their budget, which is known before. The error for a
// problem that does not fit reports the need.
func TestSlabsFitTheirBudgetOnHost(t *testing.T) {
	open := slabDevices(t, 2, "")
	for _, name := range []string{
		"gvf/steps=9/mu=80/boundary=0/of=noise/shape=20x9x40/type=uint8/seed=1", "gvf/steps=19/mu=150/boundary=1/of=noise/shape=33x150/type=float32/levels=1024/seed=6",
	} {
		p := problemOf(t, name)
		for _, several := range []bool{false, true} {
			// From the memory of one plane with its halo to all memory.
			least := newCut(p, 1)
			least.steps, least.slabs = 1, least.planes
			visits := map[int64]bool{}
			for _, share := range []int64{1, 2, 4, 100} {
				i := Slabs{Open: open, several: several, budget: share * least.bytes(p)}
				d, err := open("")
				if err != nil {
					t.Fatal(err)
				}
				before, _, _ := d.Memory()
				all := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Devices: resident.All}}
				c, err := i.cut(p, all, []device.Device{d})
				if err != nil {
					t.Fatal(err)
				}
				visits[c.visits()] = true
				if share == 1 && (c.slabs < c.planes/2 || c.visits() != p.Steps) {
					t.Errorf("%s: the least budget has %+v", name, c)
				}
				j, err := i.Setup(p, all)
				if err != nil {
					t.Fatal(err)
				}
				after, _, _ := d.Memory()
				if took := before - after; took > i.budget || took < i.budget/8 && share < 100 {
					t.Errorf("%s: slabs take %d bytes, want at most %d and not much less", name, took, i.budget)
				}
				if err := j.Close(); err != nil {
					t.Error(err)
				}
				if share == 2 {
					if problem := wrongSlabs(t, i, p, 1); problem != nil {
						t.Errorf("several %v, %d bytes, %s: %v", several, i.budget, name, problem)
					}
				}
			}
			if len(visits) < 2 {
				t.Errorf("%s: whatever the budget, visits are %v", name, visits)
			}
			none := Slabs{Open: open, several: several, budget: least.bytes(p) - 1}
			err := none.CanDo(p, bench.Conditions{Setting: bench.Setting{Devices: resident.All}})
			if err == nil || !strings.Contains(err.Error(), "the fewest that take a step, need") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: a budget that nothing fits: %v", name, err)
			}
		}
	}
}

// Images and fields that are large enough are pinned and copied in place.
func TestPinnedSlabsOnHost(t *testing.T) { testPinned(t, slabDevices(t, 2, "")) }

func TestPinnedSlabsOnDevice(t *testing.T) { testPinned(t, ecctest.Device(t)) }

func testPinned(t *testing.T, open resident.Opener) {
	t.Helper()
	streamed := problemOf(t, "gvf/steps=3/mu=150/boundary=0/of=noise/shape=1024x1100/type=uint8/seed=1")
	field, err := grid.Load(streamed.Source)
	if err != nil {
		t.Fatal(err)
	}
	p := gvf.NewProblem(field, streamed.Mu, streamed.Steps, 0, streamed.Boundary)
	i := forced(t, Slabs{Open: open, several: true}, p, 3, 2)
	j, err := ofAll{i}.Setup(p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E}})
	if err != nil {
		t.Fatal(err)
	}
	job := j.(*slabJob)
	if job.place == nil || job.field[0].lent || job.field[1].lent {
		t.Errorf("the image is pinned where it is: %v, the fields are lent: %v, %v", job.place != nil, job.field[0].lent, job.field[1].lent)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if problem := wrongSlabs(t, i, p, 1); problem != nil {
		t.Error(problem)
	}
}

// All problems for the kernels, in as little memory as takes a step and in some times that.
func TestSlabsOfAllOnDevice(t *testing.T) {
	open := ecctest.Device(t)
	for _, name := range asked() {
		p := problemOf(t, name)
		least := newCut(p, 1)
		least.steps, least.slabs = min(1, p.Steps), least.planes
		for _, share := range []int64{1, 3} {
			i := Slabs{Open: open, budget: share * least.bytes(p)}
			if problem := wrongSlabs(t, i, p, 2); problem != nil {
				t.Errorf("%d × %d bytes, %s: %v", share, least.bytes(p), name, problem)
			}
		}
	}
}

// Slabs that the best cut has of images of many tiles.
func TestLargeSlabsOnDevice(t *testing.T) {
	open := ecctest.Device(t)
	for _, name := range []string{
		"gvf/steps=13/mu=80/boundary=0/of=noise/shape=300x100x130/type=uint8/seed=1", "gvf/steps=21/mu=80/boundary=1/of=noise/shape=1500x700/type=uint8/seed=1",
		"gvf/steps=40/mu=80/boundary=1/of=noise/shape=256x128x160/type=float32/levels=1024/seed=1",
	} {
		p := problemOf(t, name)
		whole := newCut(p, 1)
		whole.slabs, whole.steps = 1, p.Steps
		for _, share := range []int64{1, 2, 4} {
			i := Slabs{Open: open, budget: whole.bytes(p) / share}
			if problem := wrongSlabs(t, i, p, 3); problem != nil {
				t.Errorf("1/%d, %s: %v", share, name, problem)
			}
		}
	}
}

// The cost of slabs, compared with a resident field: calls from host memory to host memory.
func BenchmarkSlabsOnDevice(b *testing.B) {
	open := ecctest.Device(b)
	field, err := grid.Load(problemOf(b, "gvf/of=noise/shape=512x512x512/levels=1024/type=float32/seed=1").Source)
	if err != nil {
		b.Fatal(err)
	}
	for _, steps := range []int64{32, 256} {
		p := gvf.NewProblem(field, 0.05, steps, 0, gvf.Replicate)
		var want gvf.Flow
		for _, way := range []struct {
			name    string
			impl    bench.Implementation[*gvf.Problem, gvf.Flow]
			options string
		}{
			{"blocked-gpu", Blocked(open), ""}, {"slabs-gpu", InSlabs(open), ""}, {"slabs-gpu", InSlabs(open), "budget=4GiB"}, {"slabs-gpu", InSlabs(open), "budget=2GiB"},
			{"slabs-gpu", InSlabs(open), "budget=1GiB"},
		} {
			b.Run(fmt.Sprintf("%s/%s/%d", way.name, way.options, steps), func(b *testing.B) {
				j, err := way.impl.Setup(p, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: runtime.NumCPU(), Options: way.options}})
				if err != nil {
					b.Fatal(err)
				}
				defer j.Close()
				if err := j.Do(nil); err != nil { // the first call
					b.Fatal(err)
				}
				for b.Loop() {
					if err := j.Do(nil); err != nil {
						b.Fatal(err)
					}
				}
				if s, ok := j.(*slabJob); ok {
					b.ReportMetric(float64(s.cut.slabs), "slabs")
					b.ReportMetric(float64(s.visits()), "visits")
					b.ReportMetric(s.cost(p)/1e6, "predicted-ms")
				}
				got, err := j.Out()
				if err != nil {
					b.Fatal(err)
				}
				if want.V == nil {
					want = gvf.Flow{V: slices.Clone(got.V)}
				}
				if d := gvf.Steps().Policy.Agree(p, want, got); d != nil {
					b.Error(d)
				}
			})
		}
	}
}
