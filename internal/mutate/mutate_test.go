package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func fixture(t *testing.T) *Project {
	root, err := filepath.Abs("testdata/fixture")
	if err != nil {
		t.Fatal(err)
	}
	return &Project{
		root: root, targets: []Target{{Name: "sum", dir: "sum", tests: []string{"sum"}}, {Name: "assembly", dir: "sum", part: "add", tests: []string{"sum"}}},
		jobs: 2, log: io.Discard,
	}
}

// All changes of the fixture are noticed, except planted survivors, unreached functions, and
// changes without effect.
func TestRun(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the fixture's assembly is of amd64")
	}
	p := fixture(t)
	r, err := p.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var lost []string
	for _, x := range r.All {
		if x.Tests == "" {
			what := x.Func + " " + x.After
			if !x.Reached {
				what += " unreached"
			}
			lost = append(lost, what)
		}
	}
	slices.Sort(lost)
	want := []string{
		"Slack return n + (1 + 1)", "Slack return n + (1 - 1)", "Slack return n - 1",
		"Unused func Unused(a, b bool) bool { return a || b } unreached",
		// The sum is five whatever is added for zero, and without the jump to it.
		"add ADDQ (R10), R9; NOP; MOVQ R9, ret+16(FP)", "add zero:; NOP; RET",
	}
	if !slices.Equal(lost, want) {
		t.Errorf("survivors:\n%s\nwant:\n%s", strings.Join(lost, "\n"), strings.Join(want, "\n"))
	}
	var b strings.Builder
	score := r.Print(&b)
	if n := len(r.All); math.Abs(score-100*float64(n-len(want))/float64(n)) > 1e-9 {
		t.Errorf("a score of %v with %d of %d", score, len(want), n)
	}
	for _, s := range []string{"| sum | ", "sum/sum.go:14 Slack, arithmetic: \"return n + 1\" -> \"return n - 1\"", "(never reached)"} {
		if !strings.Contains(b.String(), s) {
			t.Errorf("no %q in\n%s", s, b.String())
		}
	}
}

// If time runs out for a sample, or it is stopped, the report has the mutants that were run.
func TestLimit(t *testing.T) {
	p := fixture(t)
	p.limit = 1
	r, err := p.Run(t.Context())
	if err != nil || len(r.All) > 0 || r.left < 10 {
		t.Fatalf("%d results, %d left, %v", len(r.All), r.left, err)
	}
	n := r.left
	var b strings.Builder
	r.Print(&b)
	if s := fmt.Sprintf("no time for %d of the sample", n); !strings.Contains(b.String(), s) {
		t.Errorf("no %q in\n%s", s, b.String())
	}
	p = fixture(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	p.verbose = true
	before := 0 // results until the stop; running mutants may add theirs
	p.log = writer(func(text string) {
		if ctx.Err() == nil && strings.HasPrefix(text, "sum/") {
			before++
			if strings.Contains(text, "noticed by") {
				stop()
			}
		}
	})
	r, err = p.Run(ctx)
	if err != nil || ctx.Err() == nil || len(r.All) < before || len(r.All) > before+p.jobs-1 || len(r.All)+r.left != n {
		t.Fatalf("%d results, %d of them before the end, %d left, %v", len(r.All), before, r.left, err)
	}
}

type writer func(string)

func (w writer) Write(text []byte) (int, error) { w(string(text)); return len(text), nil }

// Only listed mutants are run. Survivors are written in the format of the list.
func TestList(t *testing.T) {
	p := fixture(t)
	p.list = []*Mutant{{File: "sum/sum.go", Func: "Slack", Operator: "arithmetic", Before: "return n + 1", After: "return n - 1"}}
	r, err := p.Run(t.Context())
	if err != nil || len(r.All) != 1 || !r.All[0].same(p.list[0]) {
		t.Fatal(r.All, err)
	}
	name := filepath.Join(t.TempDir(), "list")
	for _, want := range []int{1, 0} {
		if err := r.write(name, func(*Result) bool { return want == 1 }); err != nil {
			t.Fatal(err)
		}
		if err := readJSON(name, &p.list); err != nil || len(p.list) != want || want == 1 && !r.All[0].same(p.list[0]) {
			t.Error(p.list, err)
		}
	}
}

// Every part of the list has the same share of each sample.
func TestInterleave(t *testing.T) {
	sample := func(name string, n int) (s []*Mutant) {
		for i := range n {
			s = append(s, &Mutant{Func: name + strconv.Itoa(i)})
		}
		return s
	}
	var got []string
	for _, m := range interleave([][]*Mutant{sample("a", 4), sample("b", 2), nil, sample("c", 1)}) {
		got = append(got, m.Func)
	}
	if s := strings.Join(got, " "); s != "a0 b0 a1 c0 a2 b1 a3" {
		t.Error(s)
	}
}

// Tests that fail without a mutant are skipped and named. A stage that still fails notices nothing.
func TestLeftOut(t *testing.T) {
	// The first failure ends the other tests.
	s := &Stage{Kind: byTests, Name: "tests of x", argv: []string{"sh", "-c", `
for arg; do case $arg in -test.failfast) fast=1;; "-test.skip=^(TestA|TestB|TestC)$") exit 0;; "-test.skip=^(TestA)$") skip=1;; esac; done
echo "    --- FAIL: TestWithin/x (0.00s)"
if [ ! "$skip" ]; then echo "--- FAIL: TestA (0.00s)"; exit 2; fi
echo "--- FAIL: TestB (0.00s)"
[ "$fast" ] || echo "--- FAIL: TestC (0.00s)"
exit 1`, "sh", "-test.failfast"}}
	if err := s.measure(t.Context(), t.TempDir()); err != nil || s.useless || s.broken != "tests of x without TestA, TestB, TestC, which fail without a mutant" {
		t.Error(s.useless, s.broken, err)
	}
	s = &Stage{Kind: byTests, Name: "tests of y", argv: []string{"false"}}
	if err := s.measure(t.Context(), t.TempDir()); err != nil || !s.useless || !strings.Contains(s.broken, "tests of y fails without a mutant") {
		t.Error(s.useless, s.broken, err)
	}
	s.Kind = byVerify
	if err := s.measure(t.Context(), t.TempDir()); err != nil || !s.useless {
		t.Error(s.useless, s.broken, err)
	}
	var b strings.Builder
	(&Results{Broken: []string{s.broken}}).Print(&b)
	if !strings.Contains(b.String(), "Left out: tests of y") {
		t.Error(b.String())
	}
}

// Mutants that neither compute nor carry answers are counted separately, and in the score.
func TestAside(t *testing.T) {
	r := &Results{targets: []Target{{Name: "a"}}}
	for i, m := range []*Mutant{
		{Func: "job.Do", File: "a/a.go"}, {Func: "job.CanDoMore", File: "a/faults.go"}, {Func: "Implementation.CanDo", File: "a/a.go"}, {Func: "fused", File: "a/fault.go"},
		{Func: "Storage.String", File: "a/a.go"}, {Func: "Steps", File: "a/a.go", Before: `q.NameOf("noise", 3, 50, 0),`},
		{Func: "deviceJob.Do", File: "impls/a/device.go"}, {Func: "job.Do", File: "impls/a/gpu/job.go"},
		{Func: "on", File: "a/policy.go", estimate: true}, {Func: "size", File: "a/a.go", Operator: "constant", Before: `return 0, fmt.Errorf("%d axes", n)`},
		{Func: "Laws", File: "a/laws.go", Operator: "constant", Before: `{Name: "flip", Calls: 1.1},`}, {Func: "job.Do", File: "a/a.go", Before: "if j.fault != Early {"},
	} {
		m.Target = "a"
		if got := m.aside() != ""; got != (i > 1) {
			t.Errorf("%v is aside: %v", m, got)
		}
		x := &Result{Mutant: m}
		if i == 0 || i == 2 {
			x.Verify = "verify"
		}
		if i == 4 || i == 6 {
			x.Tests = "tests"
		}
		r.All = append(r.All, x)
	}
	var b strings.Builder
	if score := r.Print(&b); math.Round(score) != 33 {
		t.Errorf("a score of %v", score)
	}
	if !strings.Contains(b.String(), "notices 1 of 2 changes of what may compute or carry answers, and 1 are noticed by any;\nof planted faults, refusals, estimates, words and names of inputs 1 of 8, and 2;\nof what drives a device 0 of 2, and 1.\n") {
		t.Error(b.String())
	}
}

// The program with all mutants passes with none chosen, and when it reports the reached functions.
func TestNoneChosen(t *testing.T) {
	p := fixture(t)
	p.scratch = t.TempDir()
	packages, err := load(p.root, []string{"sum"})
	if err != nil {
		t.Fatal(err)
	}
	all := packages["sum"].mutants()
	for i, m := range all {
		m.ID, m.function.index = i+1, i+1
	}
	bad, err := packages["sum"].refused(all)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(m *Mutant) bool { return bad[m] })
	overlay, err := p.overlay(packages, map[string][]*Mutant{"sum": all})
	if err != nil {
		t.Fatal(err)
	}
	p.stages, p.binaries = map[string]*Stage{}, map[string]func() error{}
	stages := p.prepare(t.Context(), p.targets[0], overlay)
	if err := stages[0].ready(); err != nil {
		t.Fatal(err)
	}
	if len(stages[0].reached) == 0 {
		t.Error("nothing was reached")
	}
	if failed, out, err := stages[0].run(t.Context(), 0, 0, 0, p.scratch); failed || err != nil {
		t.Error(err, out)
	}
	if failed, _, err := stages[0].run(t.Context(), all[0].ID, 0, 0, p.scratch); !failed || err != nil {
		t.Errorf("%v passes: %v", all[0], err)
	}
}

// A process with too much memory is ended, which counts as noticed.
func TestHeld(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what processes hold")
	}
	group, err := syscall.Getpgid(0)
	if bytes, used := usage(group); err != nil || bytes < 1<<20 || used <= 0 {
		t.Errorf("this group holds %d bytes and used %v (%v)", bytes, used, err)
	}
}

// A process that never stops is ended, which counts as noticed.
func TestEndless(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says what processes use")
	}
	s := Stage{argv: []string{"sh", "-c", "while :; do :; done"}}
	if failed, _, err := s.run(t.Context(), 0, 0, 100*time.Millisecond, t.TempDir()); !failed || err != nil {
		t.Errorf("it failed: %v (%v)", failed, err)
	}
	if used := time.Duration(s.used.Load()); used < 100*time.Millisecond {
		t.Errorf("it used %v", used)
	}
}

// All that is done to a line of Go.
func TestOperators(t *testing.T) {
	packages, err := load(fixture(t).root, []string{"sum"})
	if err != nil {
		t.Fatal(err)
	}
	p := packages["sum"]
	var got []string
	all := p.mutants()
	bad, err := p.refused(numbered(all))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Func == "Between" || m.Func == "Most" || m.Func == "counter.kind" {
			line := m.Operator + ": " + m.After
			if bad[m] {
				line += " (does not compile)"
			}
			got = append(got, line)
		}
	}
	want := []string{
		"negation: if !(x < lo) {", "if false: if false && (x < lo) {", "relation: if x <= lo {", "relation: return x < hi",
		"deletion: ", "min and max: most = min(most, first)", "deletion: ", "min and max: most = min(most, r)", "sign: return len(names), nil",
	}
	// Without this line the variable is unused.
	want[6] += " (does not compile)"
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func numbered(all []*Mutant) []*Mutant {
	for i, m := range all {
		m.ID = i + 1
	}
	return all
}

func TestAssembly(t *testing.T) {
	const text = "TEXT ·a(SB), NOSPLIT, $0-0\n\tVPAND 32(SP), Y1, Y2\n\tVPSUBB Z1, Z2, K1, Z3\n\tVMOVDQU8.Z (AX), K7, Z0\n\tVPCMPUB $0x06, Z2, Z1, K3, K7\n\tVPMOVM2B K7, Z2\n\tVPGATHERDQ (CX)(Y0*8), K1, Z1\n\tVZEROUPPER\n\tRET\n\n// func b()\nTEXT ·b(SB), NOSPLIT, $0-0\n\tJL end\nend:\n\tRET\n"
	var got []string
	for _, name := range []string{"a", "b"} {
		for _, m := range asmWithin(text, "x.s", name) {
			got = append(got, m.Operator+": "+strings.TrimSpace(m.edit.text))
		}
	}
	want := []string{
		"deletion: NOP", "mask: VMOVDQU Y1, Y2", "swap: VPOR 32(SP), Y1, Y2",
		"deletion: NOP", "mask: VPSUBB Z1, Z2, Z3", "swap: VPADDB Z1, Z2, K1, Z3",
		"deletion: NOP", "mask: VMOVDQU8 (AX), Z0",
		"deletion: NOP", "mask: VPCMPUB $0x06, Z2, Z1, K7",
		"deletion: NOP",
		"deletion: NOP",
		"deletion: NOP", "swap: JGE end",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if start, end := bounds(text, "a"); start != 0 || !strings.HasSuffix(text[:end], "RET\n\n") {
		t.Errorf("a is %q", text[start:end])
	}
}

func TestKernels(t *testing.T) {
	const text = "#include <x>\n// a < b\ntemplate <class T> void f() {\n  if (a < b && c) x = min(y, 3); // a + b\n  sync();\n  int n = f<T>(0);\n}\n"
	var got []string
	for _, m := range kernelWithin(text, "f.h") {
		got = append(got, m.Operator+": "+m.After)
	}
	want := []string{
		"relation: if (a <= b && c) x = min(y, 3); // a + b", "logic: if (a < b || c) x = min(y, 3); // a + b",
		"constant: if (a < b && c) x = min(y, (3 + 1)); // a + b", "min and max: if (a < b && c) x = max(y, 3); // a + b",
		"deletion: ;", "constant: int n = f<T>((0 + 1));",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A sample stays the same if something else changes.
func TestShuffle(t *testing.T) {
	list := func(texts ...string) (all []*Mutant) {
		for _, s := range texts {
			all = append(all, &Mutant{File: "f", Before: s})
		}
		return all
	}
	few, more := list("a", "b", "c", "d", "d"), list("x", "a", "b", "c", "d", "d", "y")
	shuffle(few, "1", (*Mutant).content)
	shuffle(more, "1", (*Mutant).content)
	more = slices.DeleteFunc(more, func(m *Mutant) bool { return m.Before == "x" || m.Before == "y" })
	if !slices.EqualFunc(few, more, (*Mutant).same) {
		t.Error("another order")
	}
	shuffle(more, "2", (*Mutant).content)
	if slices.EqualFunc(few, more, (*Mutant).same) {
		t.Error("another seed, the same order")
	}
}

func TestFloorIsRead(t *testing.T) {
	if _, err := readFloor(floorFile); err != nil {
		t.Error(err)
	}
}

// A function ends where data or comments on the next one begin.
func TestBounds(t *testing.T) {
	const text = "// a is first.\nTEXT ·a(SB), NOSPLIT, $0-8\n\tRET\n\nDATA x<>+0(SB)/8, $1\nGLOBL x<>(SB), RODATA, $8\n\n// b is next.\nTEXT ·b(SB), NOSPLIT, $0-8\n\tRET\n\n// c is last.\nTEXT ·c(SB), NOSPLIT, $0-8\n\tRET\n"
	for name, want := range map[string]string{"a": "TEXT ·a(SB), NOSPLIT, $0-8\n\tRET\n\n", "b": "TEXT ·b(SB), NOSPLIT, $0-8\n\tRET\n\n", "c": "TEXT ·c(SB), NOSPLIT, $0-8\n\tRET\n"} {
		start, end := bounds(text, name)
		if got := text[start:end]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// An instruction without an opposite is not swapped.
func TestSwaps(t *testing.T) {
	text := "TEXT ·a(SB), NOSPLIT, $0-8\n\tKANDNW K1, K2, K3\n\tKORTESTW K1, K1\n\tVPANDN Y0, Y1, Y2\n\tKANDW K1, K2, K3\n"
	var got []string
	for _, m := range asmWithin(text, "a.s", "a") {
		if m.Operator == "swap" {
			got = append(got, m.edit.text)
		}
	}
	if !slices.Equal(got, []string{"\tKORW K1, K2, K3"}) {
		t.Errorf("%q", got)
	}
}

// An argument already in its register need not be loaded, unless the register was overwritten.
func TestArguments(t *testing.T) {
	const loads = "\tMOVQ to+0(FP), AX\n\tMOVSS lo+8(FP), X0\n\tMOVQ from+16(FP), CX\n\tMOVQ n+24(FP), CX\n\tMOVSD hi+32(FP), X1\n"
	deleted := func(before string) (n int) {
		text := "// func a(to *byte, lo float32, from *byte, n int, hi float64) int\nTEXT ·a(SB), NOSPLIT, $0-48\n" + before + loads
		for _, m := range asmWithin(text, "a.s", "a") {
			if strings.Contains(m.Before, "; MOV") && strings.Contains(strings.Split(m.Before, "; ")[1], "(FP)") {
				n++
			}
		}
		return n
	}
	if got := deleted(""); got != 2 { // from is in BX; n was in CX, which from overwrote
		t.Errorf("%d loads are changed, want 2", got)
	}
	if got := deleted("\tXORL AX, AX\n\tVBROADCASTSD X7, Y1\n"); got != 4 {
		t.Errorf("%d loads are changed, want 4", got)
	}
}

// A register that only addresses prefetches does not change an answer; one that also counts does.
func TestHints(t *testing.T) {
	code := "\tMOVQ ahead+8(FP), R8\n\tMOVQ step+16(FP), R9\n\tMOVQ n+24(FP), R10\n\tMOVQ 0(AX), X1\nrow:\n\tPREFETCHT1 64(R8)\n\tPREFETCHT1 (R10)\n\tADDQ R9, R8\n" +
		"\tADDQ $8, R10\n\tMOVQ X1, X2\n\tCMPQ R10, CX\n\tJNE row\n"
	if got := hints(code); len(got) != 2 || !got["R8"] || !got["R9"] {
		t.Error(got)
	}
	for _, m := range asmWithin("TEXT ·row(SB), NOSPLIT, $0\n"+code, "a.s", "row") {
		if strings.Contains(m.Before, "; MOVQ step+16(FP), R9; ") || strings.Contains(m.Before, "; ADDQ R9, R8; ") {
			t.Error(m)
		}
	}
}
