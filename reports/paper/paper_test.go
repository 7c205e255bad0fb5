package paper

import (
	"slices"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
)

func papers(t *testing.T) []Paper {
	t.Helper()
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Every number parses, and every row and column has a description.
func TestTables(t *testing.T) {
	counts := map[string]int{}
	for _, p := range papers(t) {
		if !p.Published() {
			continue // see TestDebian
		}
		if p.Title == "" || p.Authors == "" || p.Venue == "" || p.DOI == "" || p.Machine.GPU == "" || p.Machine.Bandwidth < 1e11 || p.Machine.BandwidthSource == "" {
			t.Errorf("%s: not all is said of it", p.ID)
		}
		for i, tab := range p.Tables {
			if tab.N != i+1 || tab.Page == "" || tab.About == "" || len(tab.Rows) == 0 {
				t.Errorf("%s table %d: not all is said of it", p.ID, tab.N)
			}
			keys := []string{"voxels", "count"}
			for _, c := range tab.Columns {
				if c.Key == "" || c.What == "" || suffixes(c.Unit) == nil || slices.Contains(keys, c.Key) {
					t.Errorf("%s table %d: column %+v", p.ID, tab.N, c)
				}
				if c.Scope != "" && c.Scope != "unknown" && !slices.Contains(bench.Scopes(), c.Scope) {
					t.Errorf("%s table %d %s: scope %q", p.ID, tab.N, c.Key, c.Scope)
				}
				keys = append(keys, c.Key)
			}
			for _, c := range tab.Columns {
				for _, d := range c.Derived {
					if !slices.Contains(keys, d) {
						t.Errorf("%s table %d %s: derived from %q, which is no column", p.ID, tab.N, c.Key, d)
					}
				}
			}
			for _, r := range tab.Rows {
				if r.Complex != "" {
					if input, err := r.Input(Groups, bench.E2E, Place{}); err != nil || !r.matches(input, Groups) || r.Simplices == 0 {
						t.Errorf("%s table %d %s: input %q, %v", p.ID, tab.N, r.Label, input, err)
					}
				} else if s, err := grid.ParseShape(r.Shape); err != nil || s.String() != r.Shape {
					t.Errorf("%s table %d %s: shape %q", p.ID, tab.N, r.Label, r.Shape)
				}
				if _, err := grid.ParseType(r.Type); r.Complex == "" && (err != nil || r.Levels < 2) {
					t.Errorf("%s table %d %s: %v, %d levels", p.ID, tab.N, r.Label, err, r.Levels)
				}
				if len(r.Printed) != len(tab.Columns) {
					t.Fatalf("%s table %d %s: %d numbers in %d columns", p.ID, tab.N, r.Label, len(r.Printed), len(tab.Columns))
				}
				for _, c := range tab.Columns {
					if v, ok := tab.Value(r, c.Key); !ok || v.V <= 0 && c.Unit != "1" || v.Half <= 0 {
						t.Errorf("%s table %d %s %s: %+v", p.ID, tab.N, r.Label, c.Key, v)
					}
					counts[p.ID]++
				}
			}
		}
	}
	if counts["wang2022"] != 17*9+5*6+8*3 || counts["saxena2025"] != 11*3 || counts["smistad2012"] != 2*12+4*2 || counts["murty2013"] != 2*4*3 || counts["cheng2014"] != 6*4 {
		t.Errorf("numbers: %v", counts)
	}
}

// The printed numbers that contradict their neighbours under every rounding.
func TestFindings(t *testing.T) {
	var got []string
	for _, p := range papers(t) {
		for _, f := range p.Findings() {
			got = append(got, p.ID+" "+f.String())
		}
	}
	want := []string{
		"smistad2012 table 1, vessel tubes 512², AMD 5870, one step: printed 0.035, but 28 over 512 is 0.05371 to 0.05566",
		"smistad2012 table 1, vessel tubes 512², AMD Mobile 5830, one step: printed 0.147, but 77 over 512 is 0.1494 to 0.1514",
		"smistad2012 table 1, vessel tubes 512², NVIDIA Quadro FX5800, one step: printed 0.104, but 66 over 512 is 0.1279 to 0.1299",
		"smistad2012 table 1, vessel tubes 512², NVIDIA Tesla C2070, one step: printed 0.077, but 41 over 512 is 0.07910 to 0.08105",
		"smistad2012 table 1, vessel tubes 512², Intel i5 750, one step: printed 1.485, but 851 over 512 is 1.661 to 1.663",
		"smistad2012 table 1, vessel tubes 512², Intel i7 720, one step: printed 2.344, but 1550 over 512 is 3.026 to 3.028",
		"smistad2012 table 2, vessel tubes 256³, AMD 5870, one step: printed 4.501, but 1124 over 256 is 4.389 to 4.393",
		"smistad2012 table 2, vessel tubes 256³, AMD Mobile 5830, one step: printed 20.739, but 5129 over 256 is 20.03 to 20.04",
		"smistad2012 table 2, vessel tubes 256³, NVIDIA Quadro FX5800, one step: printed 105.631, but 2,7172 over 256 is 106.1 to 106.1",
		"smistad2012 table 2, vessel tubes 256³, NVIDIA Tesla C2070, one step: printed 27.989, but 7151 over 256 is 27.93 to 27.94",
		"smistad2012 table 2, vessel tubes 256³, Intel i5 750, one step: printed 310.846, but 92591 over 256 is 361.7 to 361.7",
		"smistad2012 table 2, vessel tubes 256³, Intel i7 720, one step: printed 378.876, but 106747 over 256 is 417.0 to 417.0",
		"wang2022 table 1, uniform noise 2048³, CPU overall over GPU overall: printed 6.77x, but 4.86m over 0.71m is 6.790 to 6.901",
		"wang2022 table 1, Gaussian random field 2048², CPU overall over GPU overall: printed 0.55x, but 0.09s over 0.18s is 0.4595 to 0.5429",
		"wang2022 table 1, VICTRE 287 359 202, size of the input: printed 79.3M, but 1 × 287x359x202 of float32 is 79.39",
		"wang2022 table 1, VICTRE (unreadable, 147M), CPU overall over GPU overall: printed 3.02x, but 1.11s over 0.36s is 3.027 to 3.141",
		"wang2022 table 1, VICTRE 434 446 384, size of the input: printed 283M, but 1 × 434x446x384 of float32 is 283.5",
		"wang2022 table 2, Gaussian random field (ECC+Gaussian)×10000, iterations: printed 1000, but overall over its average is 10000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A changed number is found.
func TestFindingsCatchChanges(t *testing.T) {
	for _, change := range []struct {
		paper, column, to string
		table, row        int
	}{
		{"wang2022", "speedup", "4.20x", 0, 0},
		{"wang2022", "kernel_rate", "7.57", 0, 2},
		{"wang2022", "size", "257G", 0, 0},
		{"wang2022", "average", "0.34", 1, 3},
		{"wang2022", "size", "63.5M", 2, 2},
		{"saxena2025", "speedup", "480", 0, 0},
		{"saxena2025", "new", "0.2", 1, 0},
		{"cheng2014", "speedup", "14.16x", 0, 5},
	} {
		p, err := Find(change.paper)
		if err != nil {
			t.Fatal(err)
		}
		before := len(p.Findings())
		tab := p.Tables[change.table]
		i := slices.IndexFunc(tab.Columns, func(c Column) bool { return c.Key == change.column })
		tab.Rows[change.row].Printed[i] = change.to
		if after := len(p.Findings()); after != before+1 {
			t.Errorf("%+v: %d findings, %d before", change, after, before)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]Value{
		"37.72m": {V: 37.72 * 60, Half: 0.3}, "20.88ms": {V: 20.88e-3, Half: 5e-6}, "0.67s": {V: 0.67, Half: 0.005},
	} {
		got, err := parse(text, "time")
		if err != nil || got.V != want.V || got.Half-want.Half > 1e-12 || want.Half-got.Half > 1e-12 {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"", "m", "1", "-1s", "1e3s", "0x1s", "1.2.3s", "abcs"} {
		if v, err := parse(bad, "time"); err == nil {
			t.Errorf("%q parsed as %+v", bad, v)
		}
	}
}

// The table of our own names files of packages, and has no published numbers.
func TestDebian(t *testing.T) {
	p, err := Find("debian")
	if err != nil || p.Published() {
		t.Fatal(p.Machine, err)
	}
	for _, r := range p.Tables[0].Rows {
		input, err := r.Input(ECC, bench.E2E, Place{})
		if err != nil || !r.matches(input, ECC) || r.Voxels() == 0 || len(r.Printed) > 0 {
			t.Errorf("%s: input %q, %v", r.Label, input, err)
		}
		s, err := datasets.Open(input)
		if err != nil {
			t.Logf("%s is not installed: %v", r.Data, err)
			continue
		}
		defer grid.Close(s)
		if s.Shape().String() != r.Shape || s.Type().String() != r.Type || s.Ladder().Len() != r.Levels {
			t.Errorf("%s: %v of %v, %d levels", r.Label, s.Shape(), s.Type(), s.Ladder().Len())
		}
	}
}
