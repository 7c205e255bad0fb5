// Package floors holds the layout of the project as a test: which package may
// import which, and which packages are the doors to each outside module.
package floors

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "eccbench"

// floor is the floor of each package. A package imports only from floors below its own; rooms on
// one floor never import each other.
var floor = map[string]int{
	"internal/grid":       -6,
	"internal/grid/views": -5,
	"internal/stats":      0,
	"internal/quantity":   -6,
	"internal/race":       -6,
	"internal/name":       -6,
	"kernels/bundle":      0,
	"kernels/source":      0,
	"kernels/terse":       0,
	"internal/isa":        -6,
	"internal/crew":       -6,
	"internal/decimal":    -7,
	"internal/headers":    0,
	"internal/inflate":    -6,
	"internal/ranks":      0,
	"internal/regular":    -6,

	"internal/simplicial/files": 0,
	"internal/ranks/rankstest":  0,
	"internal/checktest":        1,

	"internal/report/svg": 0,
	"internal/release":    0,

	"internal/grid/gridtest": 1,
	"internal/name/nametest": 1,

	"internal/shard":        1,
	"internal/verify":       1,
	"internal/pool":         1,
	"datasets":              1,
	"datasets/files":        0,
	"datasets/files/format": -2,
	"datasets/files/arrays": -1,
	"datasets/files/dicom":  -1,
	"datasets/files/raster": -1,
	"datasets/zarr":         -3,
	"datasets/element":      -4,
	"datasets/storage":      -5,
	"datasets/vectors":      -5,
	"datasets/random":       -4,
	"kernels":               1,
	"kernels/faults":        1,
	"internal/device":       1,
	"internal/memfile":      0,
	"internal/peers":        1,

	"internal/bench":             2,
	"kernels/pack":               2,
	"internal/device/devicetest": 2,
	"internal/remote":            2,

	"internal/verify/verifytest": 2,
	"internal/bench/benchtest":   3,

	"internal/verify/judgedtest":          3,
	"kernels/hosttest":                    3,
	"internal/workloads/ecc/fingerprint":  3,
	"internal/workloads/ecc/cells":        3,
	"internal/workloads/gvf/rows":         3,
	"internal/workloads/eigenmap/inertia": 3,
	"internal/workloads/eigenmap/masks":   3,
	"internal/workloads/eigenmap/algebra": 3,
	"internal/fields":                     3,
	"internal/host":                       3,
	"internal/simplicial":                 3,
	"internal/report":                     3,
	"internal/gate":                       3,
	"internal/resident":                   3,
	"internal/cuda":                       3,

	"internal/workloads/ecc/fingerprint/ondevice": 4,

	"internal/worker": 4,
	"internal/runner": 5,

	"internal/workloads/ecc":  4,
	"internal/workloads/read": 4,
	"internal/workloads/gvf":  4,

	"internal/workloads/betti/counting":   4,
	"internal/workloads/betti/flood":      4,
	"internal/workloads/betti/reductions": 0,
	"internal/workloads/betti/unions":     4,
	"internal/workloads/pairs/chains":     4,
	"internal/workloads/softecc/onepass":  4,

	"internal/workloads/betti/counting/countingtest": 4,
	"internal/workloads/eigenmap":                    4,
	"internal/workloads/homology":                    4,
	"internal/workloads/homology/torsion":            3,
	"impls/homology/smith":                           5,

	"internal/workloads/gvf/gvftest":           5,
	"internal/workloads/eigenmap/eigentest":    5,
	"internal/workloads/eigenmap/ondevice":     5,
	"internal/workloads/homology/homologytest": 6,
	"internal/workloads/softecc/softtest":      6,

	"internal/workloads/ecc/counting": 5,
	"internal/workloads/ecc/ecctest":  5,
	"internal/workloads/ecc/parts":    5,
	"internal/workloads/batch":        5,
	"internal/workloads/betti":        5,
	"internal/workloads/smooth":       5,
	"internal/workloads/softecc":      5,

	"impls/naive":       6,
	"impls/cpu":         6,
	"impls/chunked":     6,
	"impls/tiled":       6,
	"impls/extrema":     6,
	"impls/extrema/gpu": 6,
	"impls/fullsweep":   6,
	"impls/read":        6,
	"impls/batch":       6,
	"impls/smooth":      6,
	"impls/foreign":     6,

	"impls/betti/definition": 6,
	"impls/betti/labels":     6,
	"impls/betti/duality":    6,
	"impls/betti/rings":      6,

	"impls/eigenmap/definition":    6,
	"impls/eigenmap/lanczos":       6,
	"impls/eigenmap/multigrid":     6,
	"impls/eigenmap/multigrid/gpu": 7,
	"impls/eigenmap/windowed":      6,

	"impls/gvf/blocked":         6,
	"impls/gvf/cpu":             6,
	"impls/gvf/definition":      6,
	"impls/gvf/gpu":             6,
	"impls/gvf/multigrid":       6,
	"impls/betticurves/bylevel": 6,
	"impls/betticurves/duality": 6,

	"impls/homology/definition": 6,
	"impls/homology/duality":    6,
	"impls/homology/reduced":    6,
	"impls/homology/reductions": 6,

	"impls/softecc/binned":     6,
	"impls/softecc/definition": 6,
	"impls/softecc/dense":      6,
	"impls/softecc/each":       6,

	"doc/examples/tally":       4,
	"doc/examples/cells":       6,
	"doc/examples/tally/plain": 6,

	"internal/workloads/assess":          6,
	"internal/workloads/softbatch":       6,
	"internal/workloads/pairs":           6,
	"internal/workloads/pairs/pairstest": 7,
	"impls/assess/flood":                 7,
	"impls/assess/matching":              6,
	"impls/assess/runs":                  7,
	"impls/pairs/definition":             7,
	"impls/pairs/morse":                  7,

	"impls":                     8,
	"internal/ask":              8,
	"internal/library":          9,
	"internal/library/ondevice": 8,
	"internal/drawing":          8,
	"reports/paper":             8,

	"internal/cli":     9,
	"internal/exports": 10,
	"internal/page":    10,

	"internal/reproduce": 10,
	"internal/gating":    10,

	"internal/command/answering": 10,
	"internal/command/assess":    11,
	"internal/command/images":    11,
	"internal/command/measure":   11,

	"cmd/eccbench":    12,
	"cmd/libeccbench": 11,
	"web/wasm":        11,
	"web":             12,

	"internal/docgen":     12,
	"internal/manuals":    12,
	"internal/thirdparty": 0,
	"internal/words":      12,

	"scripts/differential/meshes": 12,

	"internal/typecheck": 0,
	"internal/floors":    12,
}

// general packages must not refer to Euler characteristics, so that another workload can use them.
var general = []string{"internal/grid", "internal/grid/views", "internal/stats", "internal/quantity", "internal/name", "internal/race", "internal/verify", "internal/bench", "internal/host", "internal/worker", "internal/runner", "internal/report", "internal/report/svg", "internal/gate"}

// doors are the only packages, tests aside, that may import each outside module.
var doors = map[string][]string{
	"github.com/zeebo/xxh3":             {"internal/grid", "internal/grid/gridtest"},
	"gonum.org/v1/gonum":                {"internal/stats", "internal/workloads/eigenmap", "internal/workloads/eigenmap/algebra", "internal/workloads/eigenmap/ondevice", "impls/eigenmap/definition", "impls/eigenmap/lanczos", "impls/eigenmap/multigrid", "impls/eigenmap/multigrid/gpu", "impls/eigenmap/windowed", "impls/softecc/binned"},
	"github.com/olekukonko/tablewriter": {"internal/report"},
	"golang.org/x/perf":                 {"internal/report"},
	"golang.org/x/tools":                {"internal/typecheck"},
	"github.com/klauspost/compress":     {"datasets/files/arrays", "datasets/files/raster", "datasets/storage", "datasets/zarr", "internal/bench", "kernels/bundle"},
	"github.com/pierrec/lz4/v4":         {"datasets/zarr"},
	"github.com/minio/minio-go/v7":      {"internal/remote"},
	"golang.org/x/image":                {"datasets/files/raster"},
	"golang.org/x/sys/unix":             {"internal/memfile", "internal/host", "internal/worker", "internal/peers"},
	"golang.org/x/sys/cpu":              {"internal/isa"},
	"golang.org/x/term":                 {"internal/cli"},
	"github.com/spf13/pflag": {"internal/cli", "internal/gating", "internal/reproduce", "internal/command/answering",
		"internal/command/assess", "internal/command/images", "internal/command/measure"},
	"github.com/ebitengine/purego": {"internal/cuda"},
	"github.com/vbauerster/mpb/v8": {"internal/cli"},
}

// withC are the packages that have files for cgo, of a library for C. Without them programs build
// without cgo.
var withC = []string{"internal/exports", "cmd/eccbench"}

// testOnly are the outside modules that only tests may import.
var testOnly = []string{"pgregory.net/rapid", "github.com/rogpeppe/go-internal", "github.com/johannesboyne/gofakes3", "go.yaml.in/yaml/v3", "github.com/santhosh-tekuri/jsonschema/v6", "golang.org/x/perf"}

// A file is the part of a Go file that the test reads.
type file struct {
	name, pkg string
	test      bool
	imports   []string
}

// violations checks the files against the tables.
func violations(files []file) []string {
	var bad []string
	for _, f := range files {
		mine, known := floor[f.pkg]
		if !known {
			bad = append(bad, f.name+": package "+f.pkg+" stands on no floor; give it one in the table")
			continue
		}
		for _, imp := range f.imports {
			if imp == "C" {
				if !slices.Contains(withC, f.pkg) {
					bad = append(bad, f.name+": imports C; only "+strings.Join(withC, " and ")+" have files for cgo")
				}
				continue
			}
			if other, ours := strings.CutPrefix(imp, module+"/"); ours {
				if other == f.pkg {
					continue // an external test of its own package
				}
				if above, ok := floor[other]; !ok {
					bad = append(bad, f.name+": imports "+other+", which stands on no floor")
				} else if above >= mine && !f.test {
					bad = append(bad, f.name+": "+f.pkg+" imports "+other+", which is not on a floor below it")
				} else if f.test && above > max(mine, 7) {
					bad = append(bad, f.name+": test imports "+other+" from above the implementations")
				}
				continue
			}
			if !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") {
				continue // the standard library
			}
			if f.test && within(imp, testOnly) != "" {
				continue
			}
			switch mod := within(imp, keys(doors)); {
			case mod == "":
				bad = append(bad, f.name+": imports "+imp+", which has no door; give it one in the table")
			case !slices.Contains(doors[mod], f.pkg) && !f.test:
				bad = append(bad, f.name+": imports "+imp+", whose only doors are "+strings.Join(doors[mod], ", "))
			}
		}
	}
	return bad
}

func keys[V any](m map[string]V) []string {
	var k []string
	for key := range m {
		k = append(k, key)
	}
	return k
}

// within is the module of the list that an import path belongs to.
func within(imp string, modules []string) string {
	for _, m := range modules {
		if imp == m || strings.HasPrefix(imp, m+"/") {
			return m
		}
	}
	return ""
}

// parse reads the imports of every Go file below root.
func parse(t *testing.T, root string) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() != "." && d.Name() != ".." && strings.HasPrefix(d.Name(), ".")) {
			return filepath.SkipDir
		}
		if d.IsDir() && name != root {
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
				return filepath.SkipDir // a module of its own, which the program does not contain
			}
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f := file{name: filepath.ToSlash(rel), pkg: path.Dir(filepath.ToSlash(rel)), test: strings.HasSuffix(name, "_test.go")}
		for _, i := range tree.Imports {
			imp, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, imp)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFloors(t *testing.T) {
	files := parse(t, filepath.Join("..", ".."))
	if len(files) < 50 {
		t.Fatalf("found only %d Go files: the walk is broken", len(files))
	}
	for _, v := range violations(files) {
		t.Error(v)
	}
	for _, f := range files {
		for _, pkg := range general {
			for _, imp := range f.imports {
				if f.pkg == pkg && !f.test && (strings.HasPrefix(imp, module+"/internal/workloads") || strings.HasPrefix(imp, module+"/impls")) {
					t.Errorf("%s: %s must not know of Euler characteristics, but imports %s", f.name, pkg, imp)
				}
			}
		}
	}
}

// Each rule is broken once, to show that its check can fail.
func TestFloorsCatchesViolations(t *testing.T) {
	for want, f := range map[string]file{
		"is not on a floor below it": {name: "a.go", pkg: "internal/grid", imports: []string{"eccbench/internal/bench"}},
		"not on a floor below":       {name: "a.go", pkg: "impls/cpu", imports: []string{"eccbench/impls/naive"}},
		"stands on no floor":         {name: "a.go", pkg: "internal/util"},
		"whose only doors are":       {name: "a.go", pkg: "impls/cpu", imports: []string{"github.com/zeebo/xxh3"}},
		"has no door":                {name: "a.go", pkg: "impls/cpu", imports: []string{"example.org/left/pad"}},
		"imports C":                  {name: "a.go", pkg: "impls/cpu", imports: []string{"C"}},
		"above the implementations":  {name: "a_test.go", pkg: "impls/cpu", test: true, imports: []string{"eccbench/cmd/eccbench"}},
	} {
		bad := violations([]file{f})
		if len(bad) == 0 || !strings.Contains(bad[0], want) {
			t.Errorf("%+v: violations %q, want one with %q", f, bad, want)
		}
	}
}

// ofTests reports whether a package is for tests alone.
func ofTests(pkg string) bool { return strings.HasSuffix(pkg, "test") || pkg == "kernels/faults" }

// Planted faults are for tests: no other file may reach for them. Packages whose names end in test are for
// tests and for each other.
func TestFaultsArePlantedByTestsOnly(t *testing.T) {
	for _, f := range parse(t, filepath.Join("..", "..")) {
		if f.test {
			continue
		}
		for _, imp := range f.imports {
			pkg, ours := strings.CutPrefix(imp, module+"/")
			if ours && ofTests(pkg) && !ofTests(f.pkg) {
				t.Errorf("%s: imports %s, which only tests do", f.name, imp)
			}
			if (pkg == "impls/cpu" || pkg == "impls/extrema") && f.pkg != "impls" && f.pkg != "internal/library" {
				t.Errorf("%s: imports %s, which only the list of implementations, the library and tests do", f.name, imp)
			}
		}
	}
}

// mostLines is the largest number of hand-written lines of a package, tests aside. A larger one has more than one
// responsibility: the second becomes a package of its own.
const mostLines = 3000

// tooLong returns the packages of more than mostLines lines.
func tooLong(lines map[string]int) (bad []string) {
	for pkg, n := range lines {
		if n > mostLines {
			bad = append(bad, fmt.Sprintf("%s: %d lines, at most %d: make its second responsibility a package of its own", pkg, n, mostLines))
		}
	}
	return bad
}

func TestPackagesAreShort(t *testing.T) {
	root, lines := filepath.Join("..", ".."), map[string]int{}
	for _, module := range []string{".", "internal/asm", "internal/mutate"} {
		for _, f := range parse(t, filepath.Join(root, module)) {
			if f.test {
				continue
			}
			text, err := os.ReadFile(filepath.Join(root, module, f.name))
			if err != nil {
				t.Fatal(err)
			}
			if !generated.Match(text) {
				lines[path.Join(module, f.pkg)] += bytes.Count(text, []byte("\n"))
			}
		}
	}
	for _, v := range tooLong(lines) {
		t.Error(v)
	}
	if n := lines["internal/grid"]; n < 1000 {
		t.Errorf("internal/grid has %d lines: the count is broken", n)
	}
	if bad := tooLong(map[string]int{"long": mostLines + 1, "short": mostLines}); len(bad) != 1 || !strings.HasPrefix(bad[0], "long: 3001 lines") {
		t.Errorf("%q, want the long package alone", bad)
	}
}

// generated matches the first line of generated files.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
