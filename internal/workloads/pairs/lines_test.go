package pairs

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
)

// volume returns an image of 2×2×2 voxels with ranks, and labels for them.
func volume[T int64 | uint64 | float64](t *testing.T, typ string, labels ...T) *grid.Field {
	t.Helper()
	values, table := make([]float32, 8), make([]float32, len(labels))
	for i := range table {
		table[i] = grid.Ranked(i)
	}
	for i := range values {
		values[i] = table[i%len(table)]
	}
	ladder, err := grid.Table(table)
	if err != nil {
		t.Fatal(err)
	}
	f, err := grid.NewField(grid.Shape{D: 2, H: 2, W: 2}, grid.Float32, grid.Bytes(values), ladder)
	if err != nil {
		t.Fatal(err)
	}
	l, err := grid.NewLabels(typ, labels)
	if err != nil {
		t.Fatal(err)
	}
	return f.Labelled(l)
}

func text(t *testing.T, l Lines, format ecc.Format) string {
	t.Helper()
	var b bytes.Buffer
	if err := l.Write(&b, format, ecc.Provenance{Input: "here"}, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// some are pairs of voxels with values 0, 1, 2, 3 of four labels, in the order of an answer.
var some = []Pair{{0, 0, Never}, {0, 1, 3}, {0, 5, 2}, {1, 2, 7}, {2, 1, 6}}

// Rows are in the order of values, and name voxels by their axes. Integers beyond float64 are exact.
func TestLines(t *testing.T) {
	const wide = 1<<53 + 1
	f := volume(t, "int64", int64(-2), 5, 7, wide)
	up := LinesOf(f, some, ecc.Convention{})
	want := `0,-2,inf,0,0,0,-1,-1,-1
0,5,9007199254740993,1,0,0,1,1,0
0,5,7,1,0,1,0,1,0
1,7,9007199254740993,0,1,0,1,1,1
2,5,7,1,0,0,0,1,1
`
	if got := text(t, up, ecc.CSV); got != want {
		t.Errorf("%s", got)
	}
	down := LinesOf(f, []Pair{{0, 0, Never}, {0, 2, 1}, {0, 3, 6}}, ecc.Convention{Superlevel: true})
	want = `0,9007199254740993,7,1,1,0,0,1,1
0,7,5,0,1,0,1,0,0
0,-2,-inf,0,0,0,-1,-1,-1
`
	if got := text(t, down, ecc.CSV); got != want {
		t.Errorf("%s", got)
	}
	if got := text(t, up.Select(Selection{Dims: []int{0}}), ecc.JSON); !strings.Contains(got, ` "pairs": [
  {"dim":0,"birth":-2,"death":null,"birth_x":0,"birth_y":0,"birth_z":0,"death_x":-1,"death_y":-1,"death_z":-1},
  {"dim":0,"birth":5,`) {
		t.Errorf("%s", got)
	}
}

// The binary form has a type for deaths that has an infinite number.
func TestNPY(t *testing.T) {
	for _, c := range []struct {
		f           *grid.Field
		fields      string
		born, never string
	}{
		{volume(t, "uint64", uint64(1), 2, 3, math.MaxUint64), "('birth', '<u8'), ('death', '<f8')", "\x01\x00\x00\x00\x00\x00\x00\x00",
			"\x00\x00\x00\x00\x00\x00\xf0\x7f"},
		{volume(t, "float64", 0.5, 2, 3, 1e300), "('birth', '<f8'), ('death', '<f8')", "\x00\x00\x00\x00\x00\x00\xe0\x3f",
			"\x00\x00\x00\x00\x00\x00\xf0\x7f"},
		{volume(t, "float64", 0.5, 2, 3, 1e300).Labelled(nil), "('birth', '<f4'), ('death', '<f4')", "\x00\x00\x80\x00", "\x00\x00\x80\x7f"},
	} {
		got := text(t, LinesOf(c.f, []Pair{{0, 0, Never}}, ecc.Convention{}), ecc.NPY)
		head, rows, _ := strings.Cut(got, "\n")
		want := strings.Repeat("\x00", 8) + c.born + c.never + strings.Repeat("\x00", 3*8) + strings.Repeat("\xff", 3*8)
		if !strings.Contains(head, "('dim', '<i8'), "+c.fields+", ('birth_x', '<i8'), ") || rows != want {
			t.Errorf("%q, %q; want %s, %q", head, rows, c.fields, want)
		}
	}
}

// A selection is exact where float64 would round, and keeps classes that never end.
func TestSelect(t *testing.T) {
	const wide = 1 << 60
	f := volume(t, "int64", int64(0), 1, wide, wide+1)
	list := []Pair{{0, 0, Never}, {0, 0, 1}, {1, 2, 3}, {1, 0, 2}}
	number := func(list ...string) (numbers []grid.Number) {
		for _, text := range list {
			n, err := grid.ParseNumber(text)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
		return numbers
	}
	for _, c := range []struct {
		s    Selection
		want []int // indices of the list
	}{
		{Selection{}, []int{0, 1, 3, 2}},
		{Selection{Persistence: 1}, []int{0, 1, 3, 2}},
		{Selection{Persistence: 1.5}, []int{0, 3}},
		{Selection{Dims: []int{1, 2}}, []int{3, 2}},
		{Selection{Within: number("0.5", "1152921504606846976")}, []int{2}},
		{Selection{Within: number("1152921504606846977", "inf")}, nil},
	} {
		var got []int
		LinesOf(f, list, ecc.Convention{}).Select(c.s).Each(func(x Line) { got = append(got, slices.Index(list, x.Pair)) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%v selects %v, want %v", c.s, got, c.want)
		}
	}
}

// Values become the next level as sets grow, and pairs of one level are left out.
func TestSampled(t *testing.T) {
	f := volume(t, "float64", 0.0, 1, 2, 9)
	for _, c := range []struct {
		down   bool
		values []float64
		want   string
	}{
		{false, []float64{0, 4, 9}, "0,0,inf,0,0,0,-1,-1,-1\n0,4,9,1,0,0,1,1,0\n1,4,9,0,1,0,1,1,1\n"},
		{false, []float64{1}, "0,1,inf,0,0,0,-1,-1,-1\n0,1,inf,1,0,0,-1,-1,-1\n0,1,inf,1,0,1,-1,-1,-1\n2,1,inf,1,0,0,-1,-1,-1\n"},
		{true, []float64{0, 4, 9}, "0,0,-inf,0,0,0,-1,-1,-1\n"},
		{true, []float64{2}, "0,2,-inf,0,1,0,-1,-1,-1\n"}, // as the greatest value alone, which is one level
	} {
		list := some
		if c.down {
			list = []Pair{{0, 0, Never}, {0, 2, 1}}
		}
		l, err := LinesOf(f, list, ecc.Convention{Superlevel: c.down}).Sampled(c.values)
		if err != nil {
			t.Fatal(err)
		}
		if got := text(t, l, ecc.CSV); got != c.want {
			t.Errorf("%s", got)
		}
	}
}
