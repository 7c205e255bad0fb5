package kernels

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/race"
)

// body finds a kernel's text by a pattern, independently of the scanner: from its .entry line to
// the first line that is a closing brace.
func body(t *testing.T, ptx []byte, name string) []byte {
	t.Helper()
	found := regexp.MustCompile(`(?ms)^\.visible \.entry `+name+`\(.*?^\}$`).FindAll(ptx, -1)
	if len(found) != 1 {
		t.Fatalf("%d kernels are called %s", len(found), name)
	}
	return found[0]
}

// committed calls f with each module and the kernels that a pattern finds in it.
func committed(t *testing.T, f func(module string, ptx []byte, kernels []string)) {
	t.Helper()
	for _, module := range Names() {
		ptx, err := PTX(module)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, found := range regexp.MustCompile(`(?m)\.entry\s+(\w+)`).FindAllSubmatch(ptx, -1) {
			list = append(list, string(found[1]))
		}
		if len(list) == 0 {
			t.Fatalf("%s: no kernels", module)
		}
		f(module, ptx, list)
	}
}

// The result of Extract has the requested kernel with its original body on the same lines, no other
// kernel, and everything outside of kernels.
func TestOnly(t *testing.T) {
	if race.Enabled {
		t.Skip("it reads text on one goroutine, where a race detector has nothing to find and takes a minute")
	}
	declared := regexp.MustCompile(`^\.(version|target|address_size|global|visible \.global|extern|weak|shared|const)`)
	outside := func(ptx []byte) (list []string) {
		depth := 0
		for line := range strings.Lines(string(ptx)) {
			if depth == 0 && declared.MatchString(line) {
				list = append(list, line)
			}
			depth += strings.Count(line, "{") - strings.Count(line, "}")
		}
		return list
	}
	committed(t, func(module string, ptx []byte, kernels []string) {
		got, err := Entries(module, ptx)
		if err != nil || !slices.Equal(got, kernels) {
			t.Errorf("%s: the kernels are %v, %v, want %v", module, got, err, kernels)
		}
		for _, kernel := range kernels {
			cut, err := Extract(module, ptx, kernel)
			if err != nil {
				t.Fatal(err)
			}
			if left, err := Entries(module, cut); err != nil || !slices.Equal(left, []string{kernel}) {
				t.Errorf("%s: %v, %v are left, want %s", module, left, err, kernel)
			}
			was, is := body(t, ptx, kernel), body(t, cut, kernel)
			if !bytes.Equal(was, is) {
				t.Errorf("%s: the body of %s changed", module, kernel)
			}
			line := func(text, part []byte) int { return bytes.Count(text[:bytes.Index(text, part)], []byte("\n")) }
			if a, b := line(ptx, was), line(cut, is); a != b {
				t.Errorf("%s: %s was on line %d and is on line %d", module, kernel, a+1, b+1)
			}
			if n := bytes.Count(cut, []byte(".entry")); n != 1 {
				t.Errorf("%s: %d kernels are left, want %s alone", module, n, kernel)
			}
			if was, is := outside(ptx), outside(cut); len(was) < 3 || !slices.Equal(was, is) {
				t.Errorf("%s: outside of the kernels %q were, %q are left", module, was, is)
			}
			if stamp, _, _ := bytes.Cut(ptx, []byte("\n")); !bytes.HasPrefix(cut, append(stamp, '\n')) {
				t.Errorf("%s: the stamp is gone", module)
			}
		}
		if all, err := Extract(module, ptx, kernels...); err != nil || !bytes.Equal(all, ptx) {
			t.Errorf("%s with all its kernels is another text, %v", module, err)
		}
		_, err = Extract(module, ptx, kernels[0], "ecc_none")
		if err == nil || !strings.Contains(err.Error(), module+": no kernel called ecc_none") {
			t.Errorf("%s: a kernel that does not exist: %v", module, err)
		}
	})
}

// Braces and names in comments and strings do not count, functions stay, and a body may contain
// blocks.
func TestOnlyReadsTokens(t *testing.T) {
	const head = ".version 7.8\n.target sm_80\n.address_size 64\n"
	const function = ".func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; }\n"
	const table = ".visible .global .u32 t[2] = {1, 2};\n"
	const a = ".visible .entry a(.param .u64 p) .maxntid 32, 1, 1 { { // } \n ret; } /* } } */ .pragma \"}\"; }"
	const b = ".entry b()\n{ // .entry c\n call twice; }"
	const last = "\n.visible .global .u32 last;\n"
	const text = head + function + table + a + "\n" + ".weak " + b + last + ".entry d() { ret; }"
	for want, names := range map[string][]string{
		text: {"a", "b", "d"},
		head + function + table + a + "\n\n\n" + last:     {"a"},
		head + function + table + "\n\n.weak " + b + last: {"b"},
		head + function + table + "\n\n\n\n" + last:       {},
	} {
		if got, err := Extract("m", []byte(text), names...); err != nil || string(got) != want {
			t.Errorf("%v: %v\n%s\nwant\n%s", names, err, got, want)
		}
	}
	for wrong, want := range map[string]string{
		"twice":         "kernels m: no kernel called twice",
		"c":             "kernels m: no kernel called c",
		head + ".entry": "kernels m: the body of  has no end",
	} {
		in := text
		if strings.HasPrefix(wrong, head) {
			in = wrong
		}
		if _, err := Extract("m", []byte(in), wrong); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", wrong, err, want)
		}
	}
	for in, want := range map[string]string{
		head + ".entry a() { {":    "kernels m: the body of a has no end",
		head + "} .entry a() {}":   "kernels m: a body that never began ends at byte 44",
		head + ".entry a() { // }": "kernels m: the body of a has no end",
	} {
		if _, err := Entries("m", []byte(in)); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", in, err, want)
		}
	}
}

// assembler returns the path of the ptxas that ECCBENCH_PTXAS names, or of the one on the path.
func assembler(t testing.TB) string {
	name := os.Getenv("ECCBENCH_PTXAS")
	if name == "" {
		name = "ptxas"
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("compiling kernels needs ptxas, on the path or named by ECCBENCH_PTXAS: %v", err)
	}
	return path
}

// assemble compiles a module as a driver would.
func assemble(t testing.TB, ptxas string, ptx []byte) {
	t.Helper()
	source := filepath.Join(t.TempDir(), "module.ptx")
	if err := os.WriteFile(source, ptx, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(ptxas, "-arch=sm_90", "-o", os.DevNull, source).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Every kernel compiles without the others of its module.
func TestOnlyCompiles(t *testing.T) {
	ptxas := assembler(t)
	committed(t, func(module string, ptx []byte, kernels []string) {
		for _, kernel := range kernels {
			t.Run(kernel, func(t *testing.T) {
				cut, err := Extract(module, ptx, kernel)
				if err != nil {
					t.Fatal(err)
				}
				assemble(t, ptxas, cut)
			})
		}
	})
}

// BenchmarkAssemble compares the compilation of a whole module with that of one kernel, and
// measures Extract.
func BenchmarkAssemble(b *testing.B) {
	const module, kernel = "ecc_extrema_float32", "ecc_extrema_3d_float32"
	ptx, err := PTX(module)
	if err != nil {
		b.Fatal(err)
	}
	cut, err := Extract(module, ptx, kernel)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("only", func(b *testing.B) {
		b.SetBytes(int64(len(ptx)))
		for b.Loop() {
			if _, err := Extract(module, ptx, kernel); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, text := range map[string][]byte{"whole": ptx, "cut": cut} {
		b.Run(name, func(b *testing.B) {
			ptxas := assembler(b)
			for b.Loop() {
				assemble(b, ptxas, text)
			}
		})
	}
}
