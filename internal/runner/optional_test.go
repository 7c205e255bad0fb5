//go:build unix

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/verify"
)

// toyLaw is the variable with the fault of an optional law.
const toyLaw = "ECCBENCH_TEST_TOY_LAW"

// optionalLaws returns the law with the fault in toyLaw, one before it and one after it.
func optionalLaws() []verify.Law[[]uint32, []uint32] {
	fault := os.Getenv(toyLaw)
	if fault == "" {
		return nil
	}
	check := func(in, out []uint32, _ verify.Ask[[]uint32, []uint32]) (*verify.Diff, error) {
		switch fault {
		case "panics":
			panic("the law cannot cope")
		case "exits":
			os.Exit(7)
		case "hangs":
			if err := os.WriteFile(os.Getenv(toyFile), nil, 0o666); err != nil {
				return nil, err
			}
			select {}
		case "hoards":
			return nil, misbehave("hoard")
		case "fails":
			return nil, errors.New("the law cannot be tried")
		case "contradicts":
			return &verify.Diff{Where: "everywhere", Want: "this", Got: "that"}, nil
		}
		return nil, nil
	}
	law := verify.Law[[]uint32, []uint32]{Name: "optional", Check: check}
	if fault == "needs memory" {
		law.Memory = func([]uint32) int64 { return 1 << 40 }
	}
	holds := func(in, out []uint32, _ verify.Ask[[]uint32, []uint32]) (*verify.Diff, error) { return nil, nil }
	return []verify.Law[[]uint32, []uint32]{{Name: "the first", Check: holds}, law, {Name: "the next", Check: holds}}
}

// An optional law that fails in any way loses only its own evidence. A contradiction still counts.
func TestOptionalLaws(t *testing.T) {
	const next = "keeps the law: the next"
	for fault, want := range map[string]struct {
		status verify.Status
		last   string // the last line of the evidence
	}{
		"holds":        {verify.Verified, next},
		"fails":        {verify.Verified, next},
		"needs memory": {verify.Verified, next},
		"panics":       {verify.Verified, "optional: not finished: the worker ended with exit status 2: panic: the law cannot cope"},
		"exits":        {verify.Verified, "optional: not finished: the worker ended with exit status 7"},
		"hangs":        {verify.Verified, "optional: not finished: still verifying after"},
		"hoards":       {verify.Verified, "optional: not finished: used "},
		"contradicts":  {verify.Wrong, "contradicted: optional: everywhere: want this, got that"},
	} {
		t.Run(fault, func(t *testing.T) {
			if fault == "hoards" && runtime.GOOS != "linux" {
				t.Skip("limits of memory are enforced on Linux only")
			}
			c := optionalCell(t, fault)
			if c.Status != want.status || c.Seconds == nil || len(c.Digests) != 3 {
				t.Errorf("%s: %s, %d digests, want %s with its number", c.Status, c.Reason, len(c.Digests), want.status)
			}
			if got := c.Evidence[len(c.Evidence)-1].String(); !strings.HasPrefix(got, want.last) {
				t.Errorf("the last evidence is %q, want %q", got, want.last)
			}
			before := func(e verify.Evidence) bool { return e.Witness == "the first" && e.Passed }
			if !slices.ContainsFunc(c.Evidence, before) {
				t.Errorf("the evidence of a law before is lost: %v", c.Evidence)
			}
			if fault == "needs memory" && !strings.HasPrefix(c.Evidence[len(c.Evidence)-2].Note, "not tried: needs about 1.00 TiB of memory, ") {
				t.Errorf("evidence %v", c.Evidence)
			}
		})
	}
}

// optionalCell runs one cell whose worker tries a faulty law.
func optionalCell(t *testing.T, fault string) bench.CellRecord {
	p := toyPlan(t, "plain")
	marker := filepath.Join(t.TempDir(), "law")
	t.Setenv(toyLaw, fault)
	t.Setenv(toyFile, marker)
	p.Memory, p.Reproduce = 256<<20, nil
	var mu sync.Mutex
	now := time.Unix(0, 0)
	p.Clock = func() time.Time { // stops until the law hangs
		mu.Lock()
		defer mu.Unlock()
		if _, err := os.Stat(marker); err == nil {
			now = now.Add(time.Hour)
		}
		return now
	}
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	return got.cells[0]
}

// In a run without timing, as in the command verify, an implementation that dies during a law is at
// fault.
func TestLawsOfVerify(t *testing.T) {
	p := toyPlan(t, "plain")
	t.Setenv(toyLaw, "panics")
	p.Sampling = nil
	var got collector
	if err := Run(context.Background(), p, &got); err != nil {
		t.Fatal(err)
	}
	if c := got.cells[0]; c.Status != verify.Crashed || !strings.Contains(c.Reason, "the law cannot cope") {
		t.Errorf("%s: %s, want CRASHED", c.Status, c.Reason)
	}
}
