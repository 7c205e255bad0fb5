package floors

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A witness package confirms answers. It imports only these packages of ours, and only these import
// it.
type witness struct{ imports, importers []string }

// witnesses shows each witness package. Where an implementation is among the importers, another
// witness confirms its answers.
var witnesses = map[string]witness{
	"internal/workloads/eigenmap/inertia": {[]string{"internal/crew", "internal/isa"}, []string{"internal/workloads/eigenmap"}},
	"internal/workloads/eigenmap/algebra": {[]string{"internal/crew", "internal/isa"}, []string{"internal/workloads/eigenmap"}},
	"internal/workloads/homology/torsion": {[]string{"internal/verify"}, []string{"internal/workloads/homology"}},
	"internal/ranks":                      {nil, []string{"internal/workloads/homology", "impls/betti/definition"}},
	"internal/workloads/ecc/fingerprint": {[]string{"internal/crew", "internal/grid", "internal/grid/views", "internal/isa"}, []string{
		"internal/command/images", "impls", "internal/library", "internal/library/ondevice", "internal/workloads/batch", "internal/workloads/betti",
		"internal/workloads/ecc", "internal/workloads/ecc/fingerprint/ondevice", "internal/workloads/ecc/parts"}},
	"internal/workloads/softecc/onepass": {[]string{"internal/crew", "internal/grid"}, []string{"internal/workloads/softecc"}},
	"internal/workloads/betti/flood": {[]string{
		"internal/crew", "internal/grid", "internal/isa", "internal/workloads/ecc/cells"}, []string{
		"internal/ask", "internal/workloads/betti"}},
	"internal/workloads/betti/reductions": {nil, []string{"internal/workloads/betti"}},
	"internal/workloads/betti/unions": {[]string{"internal/crew", "internal/grid", "internal/isa"}, []string{
		"internal/ask", "impls/betticurves/bylevel", "internal/workloads/betti"}},
	"internal/workloads/pairs/chains": {[]string{"internal/crew", "internal/grid", "internal/verify"}, []string{
		"internal/workloads/pairs"}},
	"internal/workloads/homology": {[]string{"internal/bench", "internal/crew", "internal/grid", "internal/ranks", "internal/simplicial", "internal/verify", "internal/workloads/homology/torsion"}, []string{
		"internal/command/images", "impls", "impls/homology/definition", "impls/homology/duality", "impls/homology/reduced", "impls/homology/reductions", "internal/ask", "internal/library",
		"internal/workloads/homology/homologytest", "reports/paper"}},
	"internal/workloads/assess": {[]string{
		"internal/bench", "internal/crew", "internal/fields", "internal/grid", "internal/grid/views", "internal/headers", "internal/name",
		"internal/verify", "internal/workloads/betti", "internal/workloads/ecc/cells"}, []string{
		"impls", "impls/assess/flood", "impls/assess/runs", "internal/ask", "internal/command/assess", "internal/library",
	}},
	"internal/workloads/eigenmap": {[]string{"internal/bench", "internal/crew", "internal/fields", "internal/grid", "internal/grid/views", "internal/headers", "internal/isa", "internal/name", "internal/verify", "internal/workloads/eigenmap/algebra", "internal/workloads/eigenmap/inertia"}, []string{
		"internal/command/images", "impls", "impls/foreign", "impls/eigenmap/definition", "impls/eigenmap/lanczos", "impls/eigenmap/multigrid", "impls/eigenmap/multigrid/gpu", "impls/eigenmap/windowed", "internal/ask", "internal/library", "internal/workloads/eigenmap/eigentest",
		"internal/workloads/eigenmap/ondevice", "reports/paper"}},
}

// lent lists the names that implementations may take from the package that judges them: questions,
// answers and names. None computes an answer or a part of one.
var lent = map[string][]string{
	// Tilt, Place and Sigmoid compute parts of an answer: the witness is onepass, which takes none of them.
	"internal/workloads/softecc": {"Answer", "Batch", "Place", "Problem", "Sigmoid", "Tilt"},
	// Starter makes V0 and b for implementations; the plain loop does not use it.
	"internal/workloads/gvf": {"Axis", "Boundary", "FinestAxis", "Float16", "Float32", "Flow", "NewOutput", "NewProblem", "Output", "Problem", "Replicate",
		"Snorm16", "Starter", "Storage", "Third"},
	"internal/workloads/assess": {
		"Comparison", "Comparisons", "Constructions", "Difference", "Pair", "Poisoned", "Set", "T", "V",
	},
	"internal/workloads/homology": {"Groups", "Integers", "NewGroups", "Poisoned", "Problem", "Ring"},
	// Uniform numbers are where a search starts; Vectors tells the instruction set; AlmostEqual compares answers in self-tests.
	"internal/workloads/eigenmap": {"Grid", "Lanczos", "AlmostEqual", "Map", "NewOutput", "Output", "Patch", "OfVoxels", "Problem", "Uniform", "Vectors"},
}

// A use is a name that a file takes from a package.
type use struct{ file, pkg, of, name string }

// broken returns the imports that violate the tables above.
func broken(files []file, uses []use) (bad []string) {
	for _, f := range files {
		if f.test {
			continue
		}
		for _, imp := range f.imports {
			other, ours := strings.CutPrefix(imp, module+"/")
			if !ours || other == f.pkg {
				continue
			}
			if w, ok := witnesses[f.pkg]; ok && !slices.Contains(w.imports, other) {
				bad = append(bad, f.name+": "+f.pkg+" is a witness and may not import "+other)
			}
			if w, ok := witnesses[other]; ok && !slices.Contains(w.importers, f.pkg) {
				bad = append(bad, f.name+": imports "+other+", a witness, which only "+strings.Join(w.importers, ", ")+" may")
			}
		}
	}
	for _, u := range uses {
		if u.name == "Define" && path.Base(u.pkg) == "definition" {
			continue // the implementation that answers by the judge's definition, as its name states
		}
		if names, ok := lent[u.of]; ok && strings.HasPrefix(u.pkg, "impls/") && !slices.Contains(names, u.name) {
			bad = append(bad, u.file+": takes "+u.name+" from "+u.of+", which judges its answers: an implementation may take "+strings.Join(names, ", ")+" alone")
		}
	}
	return bad
}

// usesOf are the names that the files below a folder take from packages of ours.
func usesOf(t *testing.T, root string, files []file) (list []use) {
	t.Helper()
	for _, f := range files {
		if f.test || !strings.HasPrefix(f.pkg, "impls/") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(f.name)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]string{}
		for _, i := range tree.Imports {
			imp, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if other, ours := strings.CutPrefix(imp, module+"/"); ours {
				local := path.Base(other)
				if i.Name != nil {
					local = i.Name.Name
				}
				of[local] = other
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && of[x.Name] != "" {
					list = append(list, use{f.name, f.pkg, of[x.Name], s.Sel.Name})
				}
			}
			return true
		})
	}
	return list
}

// No judge shares code with the judged implementation.
func TestJudgesAreNotTheJudged(t *testing.T) {
	root := filepath.Join("..", "..")
	files := parse(t, root)
	uses := usesOf(t, root, files)
	if len(uses) < 1000 {
		t.Fatalf("found only %d uses of packages: the walk is broken", len(uses))
	}
	for _, v := range broken(files, uses) {
		t.Error(v)
	}
	taken := map[string]bool{}
	for _, u := range uses {
		taken[u.of+"."+u.name] = true
	}
	for of, names := range lent {
		for _, name := range names {
			if !taken[of+"."+name] {
				t.Errorf("no implementation takes %s from %s: take it out of the table", name, of)
			}
		}
	}
	// Each rule is broken once, to show that its check can fail.
	for want, bad := range map[string][]string{
		"is a witness and may not import": broken([]file{{name: "a.go", pkg: "internal/workloads/homology/torsion", imports: []string{"eccbench/impls/homology/smith"}}}, nil),
		"a witness, which only":           broken([]file{{name: "a.go", pkg: "impls/homology/reduced", imports: []string{"eccbench/internal/workloads/homology/torsion"}}}, nil),
		"which judges its answers":        broken(nil, []use{{"a.go", "impls/homology/reduced", "internal/workloads/homology", "Factors"}}),
		"may take Axis":                   broken(nil, []use{{"a.go", "impls/gvf/blocked", "internal/workloads/gvf", "Define"}, {"b.go", "impls/gvf/definition", "internal/workloads/gvf", "Define"}}),
	} {
		if len(bad) != 1 || !strings.Contains(bad[0], want) {
			t.Errorf("%q, want one with %q", bad, want)
		}
	}
}
