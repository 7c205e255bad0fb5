package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const faultsOfSum = `# end left out
The last number is not between.
file: sum/sum.go
tests: sum Test
-	return x <= hi
+	return x < hi

# slack of two
Nothing tests Slack.
file: sum/sum.go
tests: sum
-	return n + 1
+	return n + 2

# twice in the file
It would change an arbitrary place.
file: sum/sum.go
tests: sum
-max(most
+min(most

# no Go
It does not compile.
file: sum/sum.go
tests: sum
-	return n + 1
+	return n +

# panic
The test process ends.
file: sum/sum.go
tests: sum Test
-	c.n++
+	c.n++
+	panic("at once")
`

// fixture returns a small program with tests.
func fixture(t *testing.T) *Project {
	root, err := filepath.Abs("testdata/fixture")
	if err != nil {
		t.Fatal(err)
	}
	return &Project{root: root, jobs: 1, log: io.Discard}
}

// Errors of a compiler are no failures of tests.
func TestCompilerError(t *testing.T) {
	for out, want := range map[string]bool{
		"ecc.cu:3:1: error: unknown type name 'x'":               true,
		"ecc.cu:1:10: fatal error: 'extrema.h' file not found":   true,
		"checks_test.go:9: 3 changes, want 4\n--- FAIL: TestECC": false,
	} {
		if compilerError.MatchString(out) != want {
			t.Errorf("%q is an error of a compiler: want %v", out, want)
		}
	}
}

// A fault is noticed if its declared test fails with it. A fault that survives, or no longer fits the
// program, is an error, and counts as not noticed in the table.
func TestFaults(t *testing.T) {
	faults, err := parseFaults("sum", faultsOfSum)
	if err != nil || len(faults) != 5 || faults[4].After != "\tc.n++\n\tpanic(\"at once\")" {
		t.Fatalf("%d faults, %v", len(faults), err)
	}
	var b, log strings.Builder
	p := fixture(t)
	p.log, p.jobs = &log, 1
	err = p.tryFaults(t.Context(), faults, &b)
	table := strings.Contains(b.String(), "\n| sum | 5 | 2 |\n| all | 5 | 2 |\n")
	if err == nil || err.Error() != "3 of 5 faults are not noticed" || !table {
		t.Errorf("%v in\n%s", err, b.String())
	}
	for _, want := range []string{
		"sum/slack of two SURVIVES", "sum/twice in the file is stale: sum/sum.go has 2 places", "sum/no Go is stale",
	} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("no %q in\n%s", want, log.String())
		}
	}
	// A test that fails without a fault notices none.
	failing := filepath.Join(t.TempDir(), "fixture")
	if err := os.CopyFS(failing, os.DirFS("testdata/fixture")); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(failing, "sum/sum.go")
	text, _ := os.ReadFile(name)
	if err := os.WriteFile(name, []byte(strings.Replace(string(text), "starts++", "", 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	log.Reset()
	p = &Project{root: failing, jobs: 1, log: &log}
	err = p.tryFaults(t.Context(), faults[:1], io.Discard)
	if err == nil || !strings.Contains(log.String(), "without a fault") {
		t.Errorf("with a failing test: %v\n%s", err, log.String())
	}
}

// Faults in kernels are skipped with the reason on a machine that cannot compile them for the host.
func TestSkippedKernels(t *testing.T) {
	t.Setenv("PATH", "")
	var log strings.Builder
	p := fixture(t)
	p.log = &log
	f := &Fault{Area: "kernels", File: "kernels/sum.h", Tests: "sum"}
	err := p.tryFaults(t.Context(), []*Fault{f}, io.Discard)
	if err != nil || !strings.Contains(log.String(), `kernels are skipped (1 faults): exec: "clang++"`) {
		t.Errorf("%v\n%s", err, log.String())
	}
}

// A sample has the faults of its seed in their order, and remains the same if others are added.
func TestSample(t *testing.T) {
	list := func(names string) (faults []*Fault) {
		for _, name := range names {
			faults = append(faults, &Fault{Area: "a", Name: string(name)})
		}
		return faults
	}
	text := func(faults []*Fault) (names string) {
		for _, f := range faults {
			names += f.Name
		}
		return names
	}
	half := text(sample(list("abcdefgh"), 4, "1"))
	if len(half) != 4 || !slices.IsSorted([]byte(half)) {
		t.Errorf("the sample is %q", half)
	}
	if more := text(sample(list("abcdefgh0"), 9, "1")); more != "abcdefgh0" {
		t.Errorf("all are %q", more)
	}
	if same := text(sample(list(half+"xyz"), 7, "1")); same != half+"xyz" {
		t.Errorf("all are %q", same)
	}
	if other := text(sample(list("abcdefgh"), 4, "2")); other == half {
		t.Errorf("seeds 1 and 2 both give %q", half)
	}
	if err := command(t.Context(), []string{"faults"}); err == nil {
		t.Error("an argument is ignored")
	}
}

// A test that ends too late because the machine is busy has not noticed a fault.
func TestLateTests(t *testing.T) {
	faults, err := parseFaults("sum", faultsOfSum)
	if err != nil {
		t.Fatal(err)
	}
	p, survivor := fixture(t), faults[1]
	p.scratch, p.stages, p.binaries = t.TempDir(), map[string]*Stage{}, map[string]func() error{}
	p.control(t.Context(), survivor)
	if err := p.stages[survivor.Tests].ready(); err != nil {
		t.Fatal(err)
	}
	p.stages[survivor.Tests].takes = (time.Millisecond - time.Minute) / 8 // a limit of a millisecond
	if err := p.tryFault(t.Context(), survivor); err == nil || !strings.Contains(err.Error(), "SURVIVES") {
		t.Errorf("%v, want a survivor", err)
	}
}

// Every fault of the suite fits the program and has its own name. The document has their numbers.
func TestFaultsFit(t *testing.T) {
	faults, err := readFaults("faults")
	if err != nil || len(faults) < 160 {
		t.Fatalf("%d faults, %v", len(faults), err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile("../../doc/trust.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	count := map[string]int{"all": len(faults)}
	for _, f := range faults {
		count[f.Area]++
		if _, err := f.overlay(root, t.TempDir()); err != nil {
			t.Errorf("%s/%s: %v", f.Area, f.Name, err)
		}
		names = append(names, f.Area+"/"+f.Name)
	}
	for area, n := range count {
		if line := fmt.Sprintf("\n| %s | %d |\n", area, n); !strings.Contains(string(table), line) {
			t.Errorf("doc/trust.md has no line%s", line)
		}
	}
	slices.Sort(names)
	for i := range names[1:] {
		if names[i] == names[i+1] {
			t.Errorf("two faults have the name %s", names[i])
		}
	}
	for _, text := range []string{
		"a line before", "# no reason\nfile: a.go\ntests: a\n-x\n+y\n",
		"# no change\nWhy.\nfile: a.go\ntests: a\n-x\n+x\n", "# no check\nWhy.\nfile: a.go\n-x\n+y\n",
	} {
		if _, err := parseFaults("a", text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
