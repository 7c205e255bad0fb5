package ecc

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
)

// drawn returns a random curve with changes at about one of every one levels.
func drawn(levels int64, one int) (v VCEC) {
	rng := rand.New(rand.NewPCG(1, uint64(levels)))
	for k := range levels {
		if rng.IntN(one) == 0 {
			v = append(v, Step{k, 1 + rng.Int64N(9) - 5*(k%3)})
		}
	}
	return v
}

func written(t *testing.T, f Format, v VCEC, l grid.Ladder, all, header bool) []byte {
	t.Helper()
	var b bytes.Buffer
	p := Provenance{Input: "an <image>", Shape: "4x4", Verdict: "VERIFIED", Witness: "x", Digest: "00ff"}
	if err := (Lines{Curve: v, Ladder: l, All: all}).Write(&b, f, p, header); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Each format has the same contents for curves of no line, of one line, and of more lines than one
// buffer. Lines are for every level or for levels with a change.
func TestFormats(t *testing.T) {
	l := grid.Identity(grid.Uint16)
	for name, v := range map[string]VCEC{"none": {}, "one": {{300, 1}}, "the last": {{65535, -7}}, "sparse": drawn(65536, 1000), "dense": drawn(65536, 2)} {
		for _, all := range []bool{false, true} {
			var csv, socg, euler strings.Builder
			var rows []Line
			var chi int64
			at := map[int64]int64{}
			for _, s := range v {
				at[s.Level] = s.Change
			}
			for k := range l.Len() {
				change, ok := at[k]
				chi += change
				fmt.Fprintf(&euler, "%d %d\n", k, chi)
				if ok || all {
					fmt.Fprintf(&csv, "%d,%d,%d\n", k, change, chi)
					fmt.Fprintf(&socg, "%d %d\n", k, chi)
					rows = append(rows, Line{float32(k), change, chi})
				}
			}
			if got := string(written(t, CSV, v, l, all, false)); got != csv.String() {
				t.Errorf("%s, all %v: CSV %.200q, want %.200q", name, all, got, csv.String())
			}
			header, rest, _ := strings.Cut(string(written(t, CSV, v, l, all, true)), "\n")
			if !strings.HasPrefix(header, "# an <image>: 4x4") || !strings.Contains(header, "VERIFIED by x") || rest != "level,change,chi\n"+csv.String() {
				t.Errorf("%s: CSV with a header begins with %q", name, header)
			}
			if got := string(written(t, SoCG, v, l, all, true)); got != socg.String() {
				t.Errorf("%s, all %v: socg %.200q", name, all, got)
			}
			if got := string(written(t, Euler, v, l, all, true)); got != euler.String() {
				t.Errorf("%s: euler %.200q", name, got)
			}
			var object struct {
				Provenance
				Curve []Line
			}
			if err := json.Unmarshal(written(t, JSON, v, l, all, true), &object); err != nil || fmt.Sprint(object.Curve) != fmt.Sprint(rows) || object.Input != "an <image>" {
				t.Errorf("%s, all %v: JSON has %d rows, want %d (%v)", name, all, len(object.Curve), len(rows), err)
			}
			objects := strings.SplitAfter(string(written(t, JSONL, v, l, all, true)), "\n")
			if len(objects) != len(rows)+2 || !strings.Contains(objects[0], `"verdict":"VERIFIED"`) {
				t.Fatalf("%s, all %v: jsonl has %d lines, want %d", name, all, len(objects), len(rows)+2)
			}
			for i, want := range rows {
				var got Line
				if err := json.Unmarshal([]byte(objects[i+1]), &got); err != nil || got != want {
					t.Fatalf("%s: jsonl, row %d is %v, want %v (%v)", name, i, got, want, err)
				}
			}
			npy := written(t, NPY, v, l, all, true)
			length := 10 + int(binary.LittleEndian.Uint16(npy[8:]))
			if !bytes.HasPrefix(npy, []byte("\x93NUMPY\x01\x00")) || length%64 != 0 || !strings.Contains(string(npy[:length]), fmt.Sprintf("'shape': (%d,)", len(rows))) || len(npy) != length+20*len(rows) {
				t.Fatalf("%s, all %v: npy has %d bytes, header %q", name, all, len(npy), npy[:length])
			}
			for i, want := range rows {
				row := npy[length+20*i:]
				got := Line{math.Float32frombits(binary.LittleEndian.Uint32(row)), int64(binary.LittleEndian.Uint64(row[4:])), int64(binary.LittleEndian.Uint64(row[12:]))}
				if got != want {
					t.Fatalf("%s: npy, row %d is %v, want %v", name, i, got, want)
				}
			}
		}
	}
}

// A superlevel set grows from the last level to the first, and its curve with it.
func TestLinesOfSuperlevelSets(t *testing.T) {
	l := grid.Identity(grid.Uint16)
	v := drawn(65536, 3)
	down := VCEC{} // as many levels from the last
	for i := len(v) - 1; i >= 0; i-- {
		down = append(down, Step{65535 - v[i].Level, v[i].Change})
	}
	for _, all := range []bool{false, true} {
		var want, got []Line
		Lines{Curve: down, Ladder: l, All: all}.Each(func(x Line) { x.Level = 65535 - x.Level; want = append(want, x) })
		up := Lines{Curve: v, Ladder: l, In: Convention{Superlevel: true}, All: all}
		up.Each(func(x Line) { got = append(got, x) })
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("all %v: %v…, want %v…", all, got[:3], want[:3])
		}
		var b bytes.Buffer
		if err := up.Write(&b, SoCG, Provenance{}, false); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, x := range want {
			fmt.Fprintf(&text, "%v %d\n", int(x.Level), x.Chi)
		}
		if b.String() != text.String() {
			t.Errorf("all %v: written %.60q, want %.60q", all, b.String(), text.String())
		}
	}
}

// χ at a value is that of the last level at or before it.
func TestAt(t *testing.T) {
	l := Lines{Curve: VCEC{{10, 2}, {20, -1}, {30, 5}}, Ladder: grid.Identity(grid.Uint8)}
	for value, want := range map[float64]int64{-1e9: 0, 9.9: 0, 10: 2, 15: 2, 20: 1, 29.99: 1, 30: 6, 1e9: 6} {
		if got := l.At(grid.Numbers(value)[0]); got != want {
			t.Errorf("χ at %v is %d, want %d", value, got, want)
		}
	}
	l.In.Superlevel = true
	for value, want := range map[float64]int64{1e9: 0, 30.1: 0, 30: 5, 20.1: 5, 20: 4, 15: 4, 10: 6, -1e9: 6} {
		if got := l.At(grid.Numbers(value)[0]); got != want {
			t.Errorf("χ of the superlevel set at %v is %d, want %d", value, got, want)
		}
	}
}

// Levels with labels are written as their labels.
func TestLabels(t *testing.T) {
	for name, c := range map[string]struct {
		labels *grid.Labels
		want   string
		kind   string
	}{
		"float64": {labelled(t, "float64", []float64{-1e300, 0.1, 5}), "-1e+300,1,1\n5,-2,-1\n", "<f8"},
		"int64":   {labelled(t, "int64", []int64{math.MinInt64, 3, math.MaxInt64}), "-9223372036854775808,1,1\n9223372036854775807,-2,-1\n", "<i8"},
		"uint32":  {labelled(t, "uint32", []uint32{7, 8, math.MaxUint32}), "7,1,1\n4294967295,-2,-1\n", "<u8"},
	} {
		every := grid.Identity(grid.Float32)
		v := VCEC{{every.Level(grid.Ranked(0)), 1}, {every.Level(grid.Ranked(2)), -2}}
		l := Lines{Curve: v, Ladder: every, Labels: c.labels}
		var csv, npy bytes.Buffer
		if err := errors.Join(l.Write(&csv, CSV, Provenance{}, false), l.Write(&npy, NPY, Provenance{}, false)); err != nil {
			t.Fatal(err)
		}
		if csv.String() != c.want {
			t.Errorf("%s: %q, want %q", name, csv.String(), c.want)
		}
		if !strings.Contains(npy.String(), "('level', '"+c.kind+"')") || (npy.Len()-48)%64 != 0 {
			t.Errorf("%s: npy of %d bytes, %q", name, npy.Len(), npy.String()[:100])
		}
	}
}

func labelled[T int32 | uint32 | int64 | uint64 | float64](t *testing.T, typ string, values []T) *grid.Labels {
	t.Helper()
	l, err := grid.NewLabels(typ, values)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// A disk that fills up is an error, and nothing waits for it for ever.
func TestWriteFails(t *testing.T) {
	v := drawn(1<<20, 1)
	l, err := grid.Affine(0, 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		for _, left := range []int{0, 100, 1 << 20} {
			if err := (Lines{Curve: v, Ladder: l}).Write(&full{left}, f, Provenance{}, true); !errors.Is(err, errBroken) {
				t.Errorf("%s, room for %d bytes: %v", f, left, err)
			}
		}
	}
}

// The lines within a range are all lines with values in it, with their χ, in every format and both
// directions.
func TestWithin(t *testing.T) {
	ladder, err := grid.Table([]float32{-3, -1, 0, 0.5, 2, 7})
	if err != nil {
		t.Fatal(err)
	}
	v := VCEC{{Level: 0, Change: 3}, {Level: 2, Change: -5}, {Level: 3, Change: 4}, {Level: 5, Change: -1}}
	for _, superlevel := range []bool{false, true} {
		for _, all := range []bool{false, true} {
			l := Lines{Curve: v, Ladder: ladder, In: Convention{Superlevel: superlevel}, All: all}
			for _, r := range [][2]float64{{-10, 10}, {-3, 7}, {-1, 2}, {-2.5, 0.25}, {0, 0}, {1, 1.5}, {8, 9}, {-9, -8}} {
				var want, got []Line
				l.Each(func(x Line) {
					if v := l.Value(x); v >= r[0] && v <= r[1] {
						want = append(want, x)
					}
				})
				within := l.Range(grid.Numbers(r[0])[0], grid.Numbers(r[1])[0])
				within.Each(func(x Line) { got = append(got, x) })
				if !slices.Equal(got, want) {
					t.Errorf("superlevel %v, all %v, %v: %v, want %v", superlevel, all, r, got, want)
				}
				for _, format := range []Format{CSV, JSONL, SoCG, JSON} {
					var b strings.Builder
					if err := within.Write(&b, format, Provenance{}, false); err != nil {
						t.Fatal(err)
					}
					rows := strings.Count(b.String(), "\n")
					if format == JSON {
						rows = strings.Count(b.String(), `"level"`)
						if !json.Valid([]byte(b.String())) {
							t.Errorf("%v of %v is no JSON: %s", format, r, b.String())
						}
					}
					if rows != len(want) {
						t.Errorf("%v of %v: %d rows, want %d:\n%s", format, r, rows, len(want), b.String())
					}
				}
			}
		}
	}
}

// A comment contains the number of slices if each has a separate curve.
func TestCommentOfSlices(t *testing.T) {
	for slices, want := range map[int]bool{0: false, 1: true, 2: true} {
		if got := strings.Contains(Provenance{Slices: slices}.Comment(), fmt.Sprintf("; %d slices, each by itself", slices)); got != want {
			t.Errorf("%d slices: %q", slices, Provenance{Slices: slices}.Comment())
		}
	}
}

// A description explains the cells and the direction of growth of the sets.
func TestDescribe(t *testing.T) {
	f, err := grid.NewField(grid.Shape{D: 2, H: 3, W: 4}, grid.Uint8, make([]byte, 24), grid.Identity(grid.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   Convention
		want [3]string
	}{
		{Convention{}, [3]string{"T (voxels are top cells)", "sublevel, value <= level", ""}},
		{Convention{Vertices: true}, [3]string{"V (voxels are vertices)", "sublevel, value <= level", ""}},
		{Convention{Superlevel: true, Periodic: grid.Axes{X: true, Z: true}}, [3]string{"T (voxels are top cells)", "superlevel, value >= level", "x,z"}},
	} {
		p := Describe("a", f, c.in)
		if got := [3]string{p.Construction, p.Filtration, p.Periodic}; got != c.want || p.Input != "a" || p.Shape != "4x3x2" || p.Type != "uint8" || p.Ladder != f.Ladder().String() {
			t.Errorf("%+v: %+v", c.in, p)
		}
	}
}
