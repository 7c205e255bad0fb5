package foreign

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	bettidefinition "eccbench/impls/betti/definition"
	curvesduality "eccbench/impls/betticurves/duality"
	eigendefinition "eccbench/impls/eigenmap/definition"
	"eccbench/impls/extrema"
	gvfdefinition "eccbench/impls/gvf/definition"
	"eccbench/impls/naive"
	softdefinition "eccbench/impls/softecc/definition"
	"eccbench/internal/bench"
	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/isa"
	"eccbench/internal/memfile"
	"eccbench/internal/peers"
	"eccbench/internal/runner"
	"eccbench/internal/verify"
	"eccbench/internal/worker"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/eigenmap"
	"eccbench/internal/workloads/gvf"
	"eccbench/internal/workloads/softecc"
)

// workerKey makes a worker of the test program.
const workerKey = "ECCBENCH_TEST_FOREIGN_WORKER"

func TestMain(m *testing.M) {
	if way, ok := strings.CutPrefix(filepath.Base(os.Args[0]), planted); ok {
		switch way {
		case "own":
			os.Exit(serveOwn())
		case "own-cheats":
			os.Exit(serveCheats(os.Args[1]))
		case "own-avx512", "own-avx2", "own-portable":
			os.Exit(serveWith(strings.TrimPrefix(way, "own-")))
		case "greedy-child":
			take()
		case "clerk":
			for spent() < 20*time.Millisecond {
			}
			os.Exit(0)
		}
		os.Exit(play(way))
	}
	if os.Getenv(workerKey) != "" {
		err := runner.Work(func(p *peers.Peer) []runner.Bench { return curves(p) }, os.Stdin, nil)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// curves are the questions of the curve and others, put to definitions and to a peer.
func curves(p *peers.Peer) []runner.Bench {
	w := bench.Workload[grid.Source, ecc.VCEC]{
		Name: "ecc", Question: ecc.Question(), Inputs: fields.Inputs{}, Reference: "naive",
		Impls:  []bench.Implementation[grid.Source, ecc.VCEC]{naive.Implementation{}},
		Policy: ecc.Policy(), Encode: bench.Small(ecc.Encode), Decode: ecc.Decode,
	}
	asked := []struct {
		Question
		w bench.Workload[any, any]
	}{
		{Curves(), bench.Untyped(w)}, {Betti(), bench.Untyped(betti.Workload(bettidefinition.Implementation{}))},
		{Flows(), bench.Untyped(gvf.Steps(gvfdefinition.Implementation{}))},
		{BettiCurves(), bench.Untyped(betti.CurvesWorkload(curvesduality.Implementation{Counter: extrema.Implementation{}}))},
		{Eigenmaps(), bench.Untyped(eigenmap.OnGrid(eigendefinition.Implementation{}))},
		{SoftCurves(), bench.Untyped(softecc.Workload(softdefinition.Implementation{}))},
	}
	var list []runner.Bench
	for _, a := range asked {
		if way := os.Getenv(cheatKey); way != "" {
			a.w.Impls[0] = cheat(a.w.Impls[0], a.Question, way)
		}
		if p != nil {
			a.w.Impls = append(a.w.Impls, a.Of(p, a.w.Name)...)
		}
		list = append(list, runner.Bind(a.w))
	}
	return list
}

type collector []bench.CellRecord

func (*collector) Begin(string, string)           {}
func (c *collector) End(r bench.CellRecord) error { *c = append(*c, r); return nil }

// meet returns a described peer that behaves in a way.
func meet(t *testing.T, way string) *peers.Peer {
	t.Helper()
	p, err := peers.New("", guestAt(t, way))
	if err != nil {
		t.Fatal(err)
	}
	worker.Meet([]*peers.Peer{p})
	return p
}

// planFor plans a run of a peer on a small image. The clock stops until the peer hangs.
func planFor(t *testing.T, p *peers.Peer) runner.Plan {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(workerKey, "1")
	var looks atomic.Int64
	return runner.Plan{
		Command: []string{self}, Benches: curves(p), Workload: "ecc", Impls: []string{peers.Prefix + p.Name},
		Inputs: []string{"noise/shape=9x8x7/type=uint8/levels=9/seed=1"}, Threads: 1, Rotate: 3, Time: time.Minute, Budget: time.Minute, Memory: hoard / 4,
		Sampling: &worker.Sampling{Target: 0.5, MinSamples: 10, MaxSamples: 10, MaxTime: time.Minute, WarmUp: time.Nanosecond},
		Clock: func() time.Time {
			// After many reads of the clock the worker has reported the verb that is not answered.
			if _, err := os.Stat(p.Path + ".hangs"); err == nil && looks.Add(1) > 30 {
				return time.Unix(0, 0).Add(time.Hour)
			}
			return time.Unix(0, 0)
		},
	}
}

func TestPlantedPeers(t *testing.T) {
	for _, x := range []struct {
		way    string
		status verify.Status
		reason string // a part of it
	}{
		{"honest", verify.Verified, ""},
		{"idler", verify.Wrong, "9 of 9 numbers were not written"},
		{"quitter", verify.Wrong, "6 of 9 numbers were not written"},
		{"binder", verify.Wrong, "level"},
		{"elephant", verify.Wrong, "level"},
		{"late", verify.Wrong, "9 of 9 numbers were not written"},
		{"hasty", verify.Crashed, "spoke out of turn"},
		{"fickle", verify.Wrong, "gives one answer every time"},
		{"silent", verify.Timeout, "the peer has not answered do"},
		{"halfway", verify.Timeout, "still measuring"},
		{"crasher", verify.Crashed, "signal: killed: segment 17 is gone"},
		{"leaver", verify.Crashed, "it ended with exit status 0"},
		{"failing", verify.Crashed, "IndexError: list index out of range"},
		{"garbler", verify.Crashed, `"?? what?"`},
		{"endless", verify.Crashed, "a line of more than 65536 bytes"},
		{"greedy", verify.Crashed, "of memory of its own, the limit is"},
		{"parent", verify.Crashed, "of memory of its own, the limit is"},
		{"vandal", verify.Crashed, "writing to the image: operation not permitted"},
		{"bequeather", verify.Verified, ""},
		{"printer", verify.Verified, ""},
		{"refuser", verify.Skipped, "it is Saturday"},
		{"vague", verify.Wrong, "0.25 is no Euler number"},
		{"braggart", verify.Crashed, "it says that inner took"},
		{"boaster", verify.Crashed, `unknown field "speed"`},
		{"teller", verify.Verified, ""},
		// Cheats that aim at better times.
		{"few", verify.Wrong, ""},
		{"disk", verify.Wrong, ""},
		{"pinger", verify.Wrong, ""},
		{"freer", verify.Wrong, ""},
		{"forger", verify.Crashed, "forging a verdict: open /proc/"},
		{"saboteur", verify.Verified, ""},
		{"spy", verify.Verified, ""},
		{"busy", verify.Verified, ""},
		{"employer", verify.Verified, ""},
		// Cheats in bursts.
		{"sluggish", verify.Verified, ""},
		{"repeater", verify.Wrong, "gives one answer every time"},
		{"lazy", verify.Wrong, "9 of 9 numbers were not written"},
		{"deferrer", verify.Wrong, "9 of 9 numbers were not written"},
	} {
		t.Run(x.way, func(t *testing.T) {
			p := meet(t, x.way)
			var got collector
			plan := planFor(t, p)
			if x.way == "spy" { // it spies on the witness before it
				plan.Impls = append([]string{"naive"}, plan.Impls...)
			}
			if err := runner.Run(context.Background(), plan, &got); err != nil {
				t.Fatal(err)
			}
			r := got[len(got)-1]
			t.Logf("| %s | ecc, peer | %s %s | |", x.way, r.Status, strings.Join(r.Flags, ", "))
			status := r.Status
			if status == verify.Noisy { // a busy machine can make a verified cell noisy
				status = verify.Verified
			}
			if status != x.status || !strings.Contains(r.Reason, x.reason) {
				t.Fatalf("%s: %s, want %s: %s", r.Status, r.Reason, x.status, x.reason)
			}
			if r.Peer == nil || r.Peer.SHA256 != p.SHA256 || (r.Seconds != nil) != (r.Floor > 0) || r.Allocated != nil {
				t.Errorf("the record is of peer %+v, with floor %v, allocated %v", r.Peer, r.Floor, r.Allocated)
			}
			if child, err := os.ReadFile(p.Path + ".child"); err == nil {
				if pid, err := strconv.Atoi(string(child)); err != nil || unix.Kill(pid, 0) == nil {
					t.Errorf("process %s is left behind", child)
				}
			} else if x.way == "parent" || x.way == "bequeather" {
				t.Error(err)
			}
			if x.way == "teller" && (r.Spans["count"] != 2e-9 || !strings.Contains(strings.Join(r.Flags, " "), "inner 0.00×")) {
				t.Errorf("spans %v, flags %v", r.Spans, r.Flags)
			}
			works := strings.Contains(strings.Join(r.Flags, " "), "between calls +")
			if (x.way == "busy" || x.way == "employer") && !works {
				t.Errorf("it works between calls; the flags are %v", r.Flags)
			}
			flagged := strings.Contains(strings.Join(r.Flags, " "), "floor ")
			if x.status == verify.Verified && (r.Floor >= 0.01*r.Seconds.Median*float64(max(1, r.Burst))) != flagged {
				t.Errorf("a round trip is %g of a call, the flags are %v", r.Floor/r.Seconds.Median, r.Flags)
			}
			if x.way == "sluggish" && (r.Burst < 3 || r.Calls < 10*r.Burst) {
				t.Errorf("a call of %g s, a floor of %g s: bursts of %d, %d calls judged",
					r.Seconds.Median, r.Floor, r.Burst, r.Calls)
			}
		})
	}
}

// The limit of time bounds each reply: a peer that hangs in any command is TIMEOUT, with the command as
// the reason. The limit of a phase bounds the first command, which waits for the start. A wrong answer
// stays WRONG.
func TestLatePeers(t *testing.T) {
	for _, x := range []struct {
		way    string
		status verify.Status
		reason string // a part of it
	}{
		{"late-bind-1", verify.Timeout, ": the peer has not answered bind"},
		{"late-bind-2", verify.Timeout, "the peer is late at bind: no reply within 1.00 s"},
		{"late-ping-2", verify.Timeout, "the peer is late at ping: no reply within 1.00 s"},
		{"late-do-2", verify.Timeout, "the peer is late at do: no reply within 1.00 s"},
		{"late-free-1", verify.Timeout, "the peer is late at free: no reply within 1.00 s"},
		{"wrong-late-free-1", verify.Wrong, "; the peer is late at free: no reply within 1.00 s"},
	} {
		t.Run(x.way, func(t *testing.T) {
			p := meet(t, x.way)
			plan := planFor(t, p)
			plan.Time, plan.Budget, plan.Sampling = time.Second, time.Minute, nil
			var got collector
			if err := runner.Run(context.Background(), plan, &got); err != nil {
				t.Fatal(err)
			}
			r := got[0]
			if r.Status != x.status || !strings.Contains(r.Reason, x.reason) {
				t.Errorf("%s: %s, want %s: %s", r.Status, r.Reason, x.status, x.reason)
			}
			differs := slices.ContainsFunc(r.Evidence, func(e verify.Evidence) bool { return e.Diff != nil })
			if differs != (x.status == verify.Wrong) {
				t.Errorf("%s: %s: the evidence is %v", r.Status, r.Reason, r.Evidence)
			}
		})
	}
}

// A peer starts once for all inputs that are only verified, until it fails or leaves too little memory.
func TestOneProcessForManyInputs(t *testing.T) {
	const right, wrong, crashed = verify.Verified, verify.Wrong, verify.Crashed
	for way, want := range map[string][]verify.Status{
		"honest":   {right, right, right, right, right},
		"leaking":  {right, right, right, right, right},
		"stale":    {right, wrong, right, wrong, right},
		"mortal":   {right, crashed, right, crashed, right},
		"retiring": {right, right, right, right, right},
	} {
		t.Run(way, func(t *testing.T) {
			p := meet(t, way)
			plan := planFor(t, p)
			plan.Sampling, plan.Inputs = nil, nil
			for seed := range want {
				plan.Inputs = append(plan.Inputs, fmt.Sprintf("noise/shape=9x8x7/type=uint8/levels=9/seed=%d", seed))
			}
			var got collector
			if err := runner.Run(context.Background(), plan, &got); err != nil {
				t.Fatal(err)
			}
			for k, r := range got {
				if r.Status != want[k] || (want[k] != right) != strings.Contains(r.Reason, "(input 2 of its process)") {
					t.Errorf("input %d: %s: %s, want %s", k+1, r.Status, r.Reason, want[k])
				}
			}
			starts, err := os.ReadFile(p.Path + ".starts")
			n := len(starts) - 1 // one described it
			wanted := map[string]int{"honest": 1, "leaking": 3, "stale": 3, "mortal": 3, "retiring": 5}[way]
			if err != nil || n != wanted {
				t.Errorf("%d processes, want %d: %v", n, wanted, err)
			}
		})
	}
}

// No peer waits for another input while another implementation works, whose files it might open.
func TestPeersEndBeforeOtherWorkers(t *testing.T) {
	p := meet(t, "honest")
	plan := planFor(t, p)
	plan.Sampling, plan.Inputs, plan.Impls = nil, nil, append(plan.Impls, "naive")
	for seed := range 3 {
		plan.Inputs = append(plan.Inputs, fmt.Sprintf("noise/shape=9x8x7/type=uint8/levels=9/seed=%d", seed))
	}
	var got collector
	if err := runner.Run(context.Background(), plan, &got); err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		if r.Status != verify.Verified {
			t.Errorf("%s of %s: %s: %s", r.Impl, r.Input, r.Status, r.Reason)
		}
	}
	if starts, err := os.ReadFile(p.Path + ".starts"); err != nil || len(got) != 6 || len(starts) != 1+3 {
		t.Errorf("%d results, %d processes, one of them described the peer: %v", len(got), len(starts), err)
	}
}

// Every timed call of a peer is about another image, where answers do not change locally.
func TestUnseenImages(t *testing.T) {
	for workload, input := range map[string]string{
		"betti": "betti/at=-1/of=noise/shape=9x8x7/type=uint8/levels=9/seed=1",
		"gvf":   "gvf/steps=2/mu=0.1/boundary=0/of=noise/shape=9x8x7/type=uint8/levels=9/seed=1",
	} {
		ways := map[string]verify.Status{
			"honest": verify.Verified, "binder": verify.Wrong, "elephant": verify.Wrong,
			"pinger": verify.Wrong, "freer": verify.Wrong,
			"repeater": verify.Wrong, "lazy": verify.Wrong, "deferrer": verify.Wrong,
		}
		if workload == "betti" { // memories of these never help
			ways["few"], ways["disk"] = verify.Verified, verify.Verified
		}
		for way, want := range ways {
			t.Run(workload+"/"+way, func(t *testing.T) {
				p := meet(t, way)
				plan := planFor(t, p)
				plan.Workload, plan.Inputs = workload, []string{input}
				var got collector
				if err := runner.Run(context.Background(), plan, &got); err != nil {
					t.Fatal(err)
				}
				r := got[0]
				status := r.Status
				if status == verify.Noisy { // a busy machine can make a verified cell noisy
					status = verify.Verified
				}
				if status != want {
					t.Fatalf("%s: %s, want %s", r.Status, r.Reason, want)
				}
				if want == verify.Verified {
					checkUnseen(t, p, r, plan)
				}
			})
		}
	}
}

// A binding takes no image of another question.
func TestOtherQuestions(t *testing.T) {
	open := func(name string) *betti.Image {
		in, err := betti.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	p := &peers.Peer{About: peers.About{Answers: []peers.Claim{{Workload: "betti"}}}}
	i := Betti().Of(p, "betti")[0].(implementation)
	const first = "betti/at=3/of=noise/shape=4x4/type=uint8/levels=9/seed=1"
	for name, want := range map[string]bool{
		"betti/at=3/of=noise/shape=4x4/type=uint8/levels=9/seed=2":  true,
		"betti/at=4/of=noise/shape=4x4/type=uint8/levels=9/seed=1":  false,
		"betti/at=3/of=noise/shape=4x5/type=uint8/levels=9/seed=1":  false,
		"betti/at=3/of=noise/shape=4x4/type=int16/levels=9/seed=1":  false,
		"betti/at=3/of=noise/shape=4x4/type=uint8/levels=10/seed=1": false,
	} {
		j := &job{implementation: i, in: open(first)}
		if err := j.Renew(open(name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// checkUnseen checks that the timed calls were about different images, and that all answers were
// judged.
func checkUnseen(t *testing.T, p *peers.Peer, r bench.CellRecord, plan runner.Plan) {
	t.Helper()
	text, err := os.ReadFile(p.Path + ".images")
	if err != nil {
		t.Fatal(err)
	}
	images := strings.Fields(string(text))
	most := plan.Rotate + plan.Sampling.MaxSamples // warm-up and samples
	if len(images) < most {
		t.Fatalf("%d images, want %d or more", len(images), most)
	}
	slices.Sort(images[:most])
	if n := len(slices.Compact(images[:most])); n != most {
		t.Errorf("%d different images in %d calls", n, most)
	}
	n := plan.Sampling.MaxSamples
	if len(r.Samples) != n || len(r.Unseen) != min(32, n*max(1, r.Burst)) || len(r.Inputs) != 1 || len(r.Digests) != 1 {
		t.Errorf("%d samples, %d judged, inputs %v, digests %v", len(r.Samples), len(r.Unseen), r.Inputs, r.Digests)
	}
	for _, name := range append(r.Unseen, r.Inputs...) {
		confirms := func(e verify.Evidence) bool { return e.Input == name && e.Passed && e.Independent }
		if !slices.ContainsFunc(r.Evidence, confirms) {
			t.Errorf("no evidence for %s", name)
		}
	}
}

// A peer is no witness: the implementation after it is compared only with the definition.
func TestNoGuestIsAWitness(t *testing.T) {
	p := meet(t, "honest")
	plan := planFor(t, p)
	plan.Sampling = nil
	plan.Impls = []string{peers.Prefix + p.Name, peers.Prefix + "other"}
	other := &peers.Peer{Name: "other", Path: p.Path, SHA256: p.SHA256, About: p.About}
	plan.Benches = []runner.Bench{bothPeers(p, other)}
	var got collector
	if err := runner.Run(context.Background(), plan, &got); err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		if r.Status != verify.Verified {
			t.Errorf("%s: %s: %s", r.Impl, r.Status, r.Reason)
		}
		for _, e := range r.Evidence {
			if strings.Contains(e.Witness, peers.Prefix) {
				t.Errorf("%s is confirmed by a guest: %v", r.Impl, e)
			}
		}
	}
}

// bothPeers has no definition, so that only a guest could be a witness.
func bothPeers(list ...*peers.Peer) runner.Bench {
	w := bench.Untyped(bench.Workload[grid.Source, ecc.VCEC]{
		Name: "ecc", Question: ecc.Question(), Inputs: fields.Inputs{}, Policy: ecc.Policy(), Encode: bench.Small(ecc.Encode), Decode: ecc.Decode,
	})
	for _, p := range list {
		w.Impls = append(w.Impls, Curves().Of(p, "ecc")...)
	}
	return runner.Bind(w)
}

// A claim rejects cells without starting the peer.
func TestClaimsStartNothing(t *testing.T) {
	p := &peers.Peer{Name: "absent", Path: "/nowhere/absent", About: peers.About{Answers: []peers.Claim{
		{Workload: "ecc", Dims: []int{3}, Types: []string{"uint8"}, MinSide: 2, MaxSide: 9, MaxVoxels: 100, MaxLevels: 300, NSPerVoxel: 1e6, BytesPerVoxel: 1 << 20},
	}}}
	i := Curves().Of(p, "ecc")[0]
	for name, want := range map[string]string{
		"noise/shape=4x4/type=uint8/levels=5/seed=1":    "2 dimensions",
		"noise/shape=4x4x4/type=int16/levels=5/seed=1":  "no images of int16",
		"noise/shape=1x4x4/type=uint8/levels=5/seed=1":  "sides of 2 at least, not 1",
		"noise/shape=3x3x10/type=uint8/levels=5/seed=1": "sides of 9 at most, not 10",
		"noise/shape=5x5x5/type=uint8/levels=5/seed=1":  "100 voxels at most, not 125",
		"noise/shape=4x4x4/type=uint8/levels=5/seed=1":  "",
		"noise/shape=3x3x3/type=uint8/levels=5/seed=1":  "",
	} {
		in, err := fields.Inputs{}.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		err = i.CanDo(in, bench.Conditions{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	in, err := fields.Inputs{}.Open("noise/shape=4x4x4/type=uint8/levels=5/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := i.CanDo(in, bench.Conditions{Time: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "64 voxels × 1e+06 ns") {
		t.Errorf("%v", err)
	}
	if err := i.CanDo(in, bench.Conditions{Memory: 1 << 20}); err == nil || !strings.Contains(err.Error(), "64.0 MiB") {
		t.Errorf("%v", err)
	}
	if Curves().Of(p, "ecc-v") != nil || i.About().Name != "peer:absent" {
		t.Errorf("it claims more than it does, as %s", i.About().Name)
	}
}

// NumPy reads the array of the question.
func TestArrays(t *testing.T) {
	l, err := grid.Affine(0.5, 1, 4)
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.NewField(grid.Shape{D: 1, H: 1, W: 3}, grid.Uint8, []byte{1, 2, 3}, l)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ladderOf(f)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	file, err := os.ReadFile(a.Path())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(file, []byte("\x93NUMPY\x01\x00\xf6\x0f{'descr': '<f8', 'fortran_order': False, 'shape': (4, ), }  ")) || len(file) != 4096+32 || file[4095] != '\n' {
		t.Errorf("%q of %d bytes", file[:80], len(file))
	}
	if got := fmt.Sprint(grid.Values[float64](a.Data())); got != "[0.5 1.5 2.5 3.5]" {
		t.Error(got)
	}
	whole, err := grid.NewField(f.Shape(), grid.Int16, []byte{1, 0, 2, 0, 3, 0}, grid.Identity(grid.Int16))
	if err != nil {
		t.Fatal(err)
	}
	b, err := ladderOf(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if v := grid.Values[int16](b.Data()); len(v) != 1<<16 || v[0] != -1<<15 || v[1<<16-1] != 1<<15-1 {
		t.Errorf("levels from %d to %d", v[0], v[len(v)-1])
	}
}

// TestSoftCurves reads an answer as a peer would write it. Problems whose words do not fit a line
// are rejected.
func TestSoftCurves(t *testing.T) {
	p := &peers.Peer{Name: "soft", About: peers.About{Answers: []peers.Claim{{Workload: "softecc"}}}}
	pose := func(name string) *softecc.Problem {
		in, err := softecc.Inputs().Open(name)
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	in := pose("softecc/m=2/lambda=10/alpha=0.1/dir=1/of=noise/shape=2x3/type=uint8/seed=1")
	i := SoftCurves().Of(p, "softecc")[0].(implementation)
	if err := i.CanDo(in, bench.Conditions{}); err != nil {
		t.Error(err)
	}
	words := strings.Join(i.words(in), " ")
	if want := fmt.Sprintf("thresholds=%v,%v upstream=", in.Tau[0], in.Tau[1]); !strings.HasPrefix(words, want) {
		t.Errorf("%s, want %s", words, want)
	}
	var written [][]byte
	next := 0.0
	for _, part := range i.parts(in) {
		a, err := peers.NewArray("answer", part.kind, part.shape, false)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		written = append(written, a.Data())
		if part.kind == "<f4" {
			for j := range grid.Values[float32](a.Data()) {
				next++
				grid.Values[float32](a.Data())[j] = float32(next)
			}
			continue
		}
		for j := range grid.Values[float64](a.Data()) {
			next++
			grid.Values[float64](a.Data())[j] = next
		}
	}
	want := softecc.Answer{
		Chi: []float64{1, 2}, DTau: []float64{3, 4}, DX: []float32{5, 6, 7, 8, 9, 10},
		DV: [3]float64{11, 12, 13}, Lambda: 14, Alpha: 15,
	}
	if got := i.read(in, written); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, want := range map[string]string{
		"softecc/m=1001/lambda=10/alpha=0/dir=1/of=noise/shape=2x3/type=uint8/seed=1":         "at most 1000 thresholds",
		"softecc/m=2/lambda=10/alpha=0/dir=1/vertices=1/of=noise/shape=2x3/type=uint8/seed=1": "the T-construction",
	} {
		if err := i.CanDo(pose(name), bench.Conditions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// Elements that poison left are counted, in answers of each kind.
func TestUnwritten(t *testing.T) {
	for kind, right := range map[string][]byte{
		"<i8": grid.Bytes([]int64{0, -1}), "<f4": grid.Bytes([]float32{0, float32(math.NaN())}), "<f8": grid.Bytes([]float64{0, math.NaN()}),
	} {
		data := make([]byte, 3*len(right))
		poison(data, kind)
		copy(data[len(right):], right)
		if left, all := unwritten(data, kind); left != 4 || all != 6 {
			t.Errorf("%s: %d of %d, want 4 of 6", kind, left, all)
		}
	}
}

// A service uses the levels of any question that has them. They decide how fast an implementation is.
func TestServiceKnowsTheLevels(t *testing.T) {
	w := words{}
	for key, shape := range map[string][]int64{"image": {2, 3}, "levels": {3}} {
		a, err := peers.NewArray(key, "<f4", shape, true)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		copy(grid.Values[float32](a.Data()), []float32{0.25, 0.5, 4})
		w[key] = a.Path()
	}
	s := &served{Question: SoftCurves()}
	in, err := s.open(w)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if l := in.Ladder(); l.Len() != 3 || l.Value(2) != 4 {
		t.Errorf("%d levels, want 0.25, 0.5 and 4", l.Len())
	}
}

// The harness sends levels that are part of the question, and few levels to a process of this program
// that is asked for soft curves. It counts their bytes.
func TestLevelsThatAreSent(t *testing.T) {
	claims := []peers.Claim{{Workload: "ecc"}, {Workload: "betti"}, {Workload: "softecc"}}
	own, guest := peers.Own("own", "ecc", true, ""), &peers.Peer{Name: "guest"}
	own.Answers, guest.Answers = claims, claims
	image := func(n int64) grid.Source {
		values := make([]float32, n)
		for k := range values {
			values[k] = float32(k) + float32(k%2)/4 // unevenly spaced
		}
		l, err := grid.Table(values)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Trusted(grid.Shape{D: 1, H: 1, W: n}, grid.Float32, grid.Bytes(values), l)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	few, many := image(9), image(mostTuned+1)
	of := func(p *peers.Peer) [3]func(grid.Source) bool {
		return [3]func(grid.Source) bool{
			Curves().Of(p, "ecc")[0].(implementation).sendsLevels,
			Betti().Of(p, "betti")[0].(implementation).sendsLevels,
			SoftCurves().Of(p, "softecc")[0].(implementation).sendsLevels,
		}
	}
	for _, x := range []struct {
		peer      *peers.Peer
		few, many [3]bool
	}{
		{own, [3]bool{true, false, true}, [3]bool{true, false, false}},
		{guest, [3]bool{true, false, false}, [3]bool{true, false, false}},
	} {
		for k, sends := range of(x.peer) {
			if sends(few) != x.few[k] || sends(many) != x.many[k] {
				t.Errorf("%s, %s: sends few levels %t, many %t", x.peer.Name, claims[k].Workload, sends(few), sends(many))
			}
		}
	}
	sent, err := ladderOf(few)
	if err != nil {
		t.Fatal(err)
	}
	defer sent.Close()
	if back, err := ladderFrom(sent.Data(), "<f4", grid.Float32); err != nil || back.Key() != few.Ladder().Key() {
		t.Errorf("the levels come back as %v: %v", back, err)
	}
	n := many.Shape().Voxels()
	room := bench.Conditions{Memory: 4*n + 2*8*many.Ladder().Len()} // the image, the levels and the answer
	i := Curves().Of(own, "ecc")[0]
	if err := i.CanDo(many, room); err != nil {
		t.Error(err)
	}
	if room.Memory--; i.CanDo(many, room) == nil {
		t.Error("the levels fit no memory, and are sent")
	}
}

// ownAt returns the test program as a process of this program that answers a question in a way.
func ownAt(t *testing.T, question, way string) *peers.Peer {
	return peers.Own("own", question, question == "ecc", guestAt(t, way))
}

// serve answers the questions of a harness.
func serve(s Service) int {
	if err := peers.Serve(func() peers.About { return peers.About{} }, s.Bind); err != nil {
		return 1
	}
	return 0
}

// serveOwn answers questions by their definitions.
func serveOwn() int {
	s := Service{}
	Curves().Serve(s, alone("ecc", naive.Implementation{}), "naive")
	Betti().Serve(s, alone("betti", bettidefinition.Implementation{}), "definition")
	Eigenmaps().Serve(s, alone("eigenmap", eigendefinition.Implementation{}), "definition")
	return serve(s)
}

// alone returns a workload of one implementation.
func alone[In, Out any](name string, i bench.Implementation[In, Out]) bench.Workload[any, any] {
	return bench.Untyped(bench.Workload[In, Out]{Name: name, Impls: []bench.Implementation[In, Out]{i}})
}

// A pretender computes with another instruction set than the declared one.
type pretender struct {
	extrema.Implementation
	isa string
}

func (c pretender) Setup(in grid.Source, declared bench.Conditions) (bench.Job[ecc.VCEC], error) {
	declared.ISA = c.isa
	return c.Implementation.Setup(in, declared)
}

// serveWith answers questions by extrema with an instruction set.
func serveWith(isa string) int {
	s := Service{}
	Curves().Serve(s, alone("ecc", pretender{isa: isa}), "extrema")
	return serve(s)
}

// The kernel samples the instructions of the first calls. A row whose process uses another instruction set than the
// declared one has flags.
func TestDeclaredInstructions(t *testing.T) {
	in, err := fields.Inputs{}.Open("noise/shape=64x64x64/type=uint8/levels=256/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	sets := extrema.Implementation{}.About().ISAs
	for _, declared := range sets {
		for _, used := range sets {
			c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1, ISA: declared}}
			i := Curves().Of(ownAt(t, "ecc", "own-"+used), "ecc")[0]
			j, err := i.Setup(in, c)
			if err != nil {
				t.Fatal(err)
			}
			calls := j.(*job)
			for calls.calls < 10 ||
				calls.sampled[""] > 0 && calls.sampled[""] < enoughSampled && calls.sampled[declared] == 0 {
				j.Poison()
				if err := j.Do(nil); err != nil {
					t.Fatal(err)
				}
			}
			if calls.sampled[""] == 0 {
				t.Skip("the kernel permits no samples")
			}
			var want []string
			if used != declared && declared != isa.Portable {
				want = append(want, declared+" not seen")
			}
			if used != declared && used != isa.Portable {
				want = append(want, used+" seen")
			}
			sampled := calls.sampled
			if got := j.(bench.Flagged).Flags(); !slices.Equal(got, want) {
				t.Errorf("%s for %s: flags %q, want %q: %v", used, declared, got, want, sampled)
			}
			j.Close()
		}
	}
}

// A process of this program answers for the image of each call, not for the one of its binding or of the
// call before.
func TestOwnProcess(t *testing.T) {
	const noise = "noise/shape=5x4x3/type=uint8/levels=9/seed="
	betweenImages(t, Betti(), "betti", bettidefinition.Implementation{}, betti.Inputs{}.Open, "betti/at=3/of="+noise)
	betweenImages(t, Eigenmaps(), "eigenmap", eigendefinition.Implementation{}, eigenmap.Inputs("eigenmap").Open,
		"eigenmap/k=2/tol=6/sigma=100/floor=1000/corners=0/plain=0/of="+noise)
}

func betweenImages[In, Out any](t *testing.T, q Question, workload string,
	definition bench.Implementation[In, Out], open func(string) (In, error), name string) {
	j := bench.Job[any](nil)
	for seed := range 3 {
		in, err := open(fmt.Sprint(name, seed))
		if err != nil {
			t.Fatal(err)
		}
		c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}}
		if j == nil {
			if j, err = q.Of(ownAt(t, workload, "own"), workload)[0].Setup(in, c); err != nil {
				t.Fatal(err)
			}
			defer j.Close()
		} else if err := j.(bench.Renewable[any]).Renew(in); err != nil {
			t.Fatal(err)
		}
		j.Poison()
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		got, err := j.Out()
		if err != nil {
			t.Fatal(err)
		}
		want, err := bench.Answer(definition, in, c)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s%d: %v, %v, want %v", name, seed, got, err, want)
		}
	}
}

// A large image in the file of the input is edited there, and restored after each call.
func TestInPlace(t *testing.T) {
	images := fields.Inputs{}
	made, err := images.Open("noise/shape=68x65x64/type=uint8/levels=9/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	home, err := memfile.New("image")
	if err != nil {
		t.Fatal(err)
	}
	defer home.Close()
	if err := images.Share(made, home); err != nil {
		t.Fatal(err)
	}
	mapped, err := memfile.MapExtent(home, memfile.Extent{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer memfile.Unmap(mapped)
	in, err := images.AttachIn(home, mapped)
	if err != nil {
		t.Fatal(err)
	}
	original := slices.Clone(mapped)
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}, Memory: grid.TotalBytes(in) / 2}
	want, err := bench.Answer(naive.Implementation{}, in, bench.Conditions{})
	if err != nil {
		t.Fatal(err)
	}
	i := Curves().Of(ownAt(t, "ecc", "own"), "ecc")[0]
	if err := i.CanDo(in, c); err != nil {
		t.Errorf("without a copy it needs less memory: %v", err)
	}
	j, err := i.Setup(in, c)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		j.Poison()
		if err := j.Do(nil); err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(mapped, original) {
			t.Error("the image of a call has no edits")
		}
		if got, err := j.Out(); err != nil || !reflect.DeepEqual(got, want) || !bytes.Equal(mapped, original) {
			t.Errorf("%v, %v, want %v and the image as before", got, err, want)
		}
	}
	j.Poison()
	if err := j.Do(nil); err != nil {
		t.Fatal(err)
	}
	if j.Close(); !bytes.Equal(mapped, original) {
		t.Error("edits are left")
	}
}

// The times that a process of this program reports for a burst are means, so together they fit in the burst. The
// edits of each image are made within the burst and undone after it. Its answer is copied then and may be read twice.
func TestReportsOfBursts(t *testing.T) {
	in, err := fields.Inputs{}.Open("noise/shape=9x8x7/type=uint8/levels=9/seed=1")
	if err != nil {
		t.Fatal(err)
	}
	image := make([]byte, grid.TotalBytes(in))
	if err := in.ReadSlab(image, 0, in.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	c := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 1}}
	want, err := bench.Answer(naive.Implementation{}, in, c)
	if err != nil {
		t.Fatal(err)
	}
	i := Curves().Of(ownAt(t, "ecc", "own"), "ecc")[0]
	var jobs []bench.Bursting
	edited := func(j bench.Bursting) bool { return !bytes.Equal(j.(*job).data, image) }
	for range 16 {
		j, err := i.Setup(in, c)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		j.Poison()
		jobs = append(jobs, j.(bench.Bursting))
		if edited(jobs[0]) {
			t.Error("the image of a call is ready before the call")
		}
	}
	start := time.Now()
	if err := jobs[0].Burst(jobs); err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	if !edited(jobs[0]) {
		t.Error("the image of a call has no edits")
	}
	r, ok := jobs[0].(bench.Remote).Reported()
	if sum := time.Duration(len(jobs)) * (r.Poison + r.Do + r.Out); !ok || r.Do == 0 || sum > took {
		t.Errorf("%d times %+v, in a burst of %v", len(jobs), r, took)
	}
	poison(jobs[0].(*job).answer[0].Data(), "<i8") // as a process that writes late
	for range 2 {
		got, err := jobs[0].(bench.Job[any]).Out()
		if err != nil || edited(jobs[0]) || !reflect.DeepEqual(got, want) {
			t.Errorf("edited still %v: %v, %v, want %v", edited(jobs[0]), got, err, want)
		}
	}
}
