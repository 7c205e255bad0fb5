package page

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// put sends a question to a session and decodes the reply.
func put(t *testing.T, s *Session, question string, to any) (more []byte) {
	t.Helper()
	reply, more := s.Reply([]byte(question))
	if err := json.Unmarshal(reply, to); err != nil {
		t.Fatalf("%s: %s: %v", question, reply, err)
	}
	return more
}

func session() *Session {
	return &Session{Progress: func(string, float64) {}, Memory: func() int64 { return 1 << 30 }}
}

// ball is a ball of 0 in a box of 255, with its options.
const ball = `"input":"ball/shape=24x20x18/type=uint8/radius=6","construction":"T"`

// Values have the digits of their type, as in the command.
func TestRange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "image.npy")
	for _, c := range []struct {
		kind string
		data []byte
		want [2]string
	}{
		{"f4", grid.Bytes([]float32{4.9, 3e38}), [2]string{"4.9", "3e+38"}},
		{"f4", grid.Bytes([]float32{-0.1, 1e-5}), [2]string{"-0.1", "1e-05"}},
		{"f8", grid.Bytes([]float64{0.1, 4.9}), [2]string{"0.1", "4.9"}},
		{"u1", []byte{0, 255}, [2]string{"0", "255"}},
	} {
		if err := os.WriteFile(path, append(headers.Npy(c.kind, 1, 2), c.data...), 0o666); err != nil {
			t.Fatal(err)
		}
		var a About
		put(t, session(), `{"what":"open","input":"`+path+`","construction":"T"}`, &a)
		if a.Range != c.want {
			t.Errorf("%s: %v, want %v", c.kind, a.Range, c.want)
		}
	}
}

func TestImage(t *testing.T) {
	s := session()
	var a About
	put(t, s, `{"what":"open",`+ball+`}`, &a)
	if a.Shape != [3]int64{18, 20, 24} || a.Type != "uint8" || !a.Whole || a.Wide || a.Volumes != 1 || a.Axes != 3 ||
		a.Least >= a.Most {
		t.Fatalf("%+v", a)
	}
	for axis, want := range []Plane{{24, 20}, {24, 18}, {20, 18}} {
		var p Plane
		question := `{"what":"slice",` + ball + `,"axis":` + string(rune('0'+axis)) + `,"index":9}`
		values := grid.Values[float32](put(t, s, question, &p))
		if p != want || int64(len(values)) != p.Width*p.Height {
			t.Errorf("across axis %d: %v with %d values, want %v", axis, p, len(values), want)
		}
		for i, v := range values {
			at := [3]int64{9, int64(i) / p.Width, int64(i) % p.Width}
			if axis > 0 {
				at = [3]int64{int64(i) / p.Width, 9, int64(i) % p.Width}
			}
			if axis == 2 {
				at = [3]int64{int64(i) / p.Width, int64(i) % p.Width, 9}
			}
			if got := float32(s.image.Data()[(at[0]*20+at[1])*24+at[2]]); got != v {
				t.Fatalf("across axis %d, value %d: %v, want %v", axis, i, v, got)
			}
		}
	}
	var fault Fault
	if put(t, s, `{"what":"slice",`+ball+`,"axis":0,"index":18}`, &fault); !strings.Contains(fault.Error, "no slice 18") {
		t.Errorf("a slice that there is not: %+v", fault)
	}
}

// Numbers of well-known sets are right in each convention, and the curve has their χ.
func TestNumbers(t *testing.T) {
	shell := `"input":"shell/shape=24x20x18/type=uint8/radius=7/thickness=2"`
	s := session()
	for _, options := range []string{
		`"construction":"T"`, `"construction":"V"`,
		`"construction":"T","superlevel":true`, `"construction":"V","superlevel":true`,
	} {
		var a About
		var curve Curve
		put(t, s, `{"what":"open",`+shell+`,`+options+`}`, &a)
		put(t, s, `{"what":"curve",`+shell+`,`+options+`}`, &curve)
		if curve.Verdict != "VERIFIED" || curve.Rows < 1 {
			t.Fatalf("%s: %+v", options, curve)
		}
		seen := []Set{}
		for _, at := range []string{"0", "0.5", "1", "254", "255", "1e3"} {
			var set Set
			var chi int64
			put(t, s, `{"what":"set",`+shell+`,`+options+`,"at":`+at+`}`, &set)
			put(t, s, `{"what":"chi",`+shell+`,`+options+`,"at":`+at+`}`, &chi)
			if set.Chi != set.B0-set.B1+set.B2 || set.Chi != chi || set.Witness == "" {
				t.Errorf("%s at %s: %+v, χ of the curve %d", options, at, set, chi)
			}
			set.By, set.Witness = "", ""
			seen = append(seen, set)
		}
		// The shell and the box around it have one component and one cavity each.
		if !slices.Contains(seen, Set{B0: 1, B2: 1, Chi: 2}) && !slices.Contains(seen, Set{B0: 2, B2: 1, Chi: 3}) {
			t.Errorf("%s: no set is a shell or all but one: %+v", options, seen)
		}
	}
}

// A question without an answer is a fault in plain words, and the session continues.
func TestFaults(t *testing.T) {
	gaps := filepath.Join(t.TempDir(), "gaps.npy")
	data := append(headers.Npy("f4", 2, 2), grid.Bytes([]float32{1, float32(math.NaN()), 2, 3})...)
	if err := os.WriteFile(gaps, data, 0o666); err != nil {
		t.Fatal(err)
	}
	s := session()
	for _, c := range []struct {
		question, want string
		nan            bool
	}{
		{`{"what":"open","input":"none.png","construction":"T"}`, "no such file", false},
		{`{"what":"open","input":"none.png","construction":"W"}`, "want T or V", false},
		{`{"what":"set","construction":"T"}`, "no image is open", false},
		{`{"what":"csv","construction":"T"}`, "no curve is known", false},
		{`{"what":"open","input":"` + gaps + `","construction":"T"}`, "NaN", true},
		{`{"what":"curve","input":"` + gaps + `","construction":"T"}`, "NaN", true},
		{`{"what":"chi","construction":"T","at":"high"}`, "no number", false},
		{`{`, "JSON", false},
	} {
		var fault Fault
		put(t, s, c.question, &fault)
		if !strings.Contains(fault.Error, c.want) || fault.NaN != c.nan || fault.Wrong {
			t.Errorf("%s: %+v, want %q", c.question, fault, c.want)
		}
	}
	masked := `"input":"` + gaps + `","construction":"T","nan":"mask"`
	var a About
	var curve Curve
	var set Set
	put(t, s, `{"what":"open",`+masked+`}`, &a)
	put(t, s, `{"what":"curve",`+masked+`}`, &curve)
	put(t, s, `{"what":"set",`+masked+`,"at":1}`, &set)
	if a.Least != 1 || a.Most != 3 || curve.Verdict != "VERIFIED" || set.B0 != 1 {
		t.Errorf("masked: %+v, %+v, %+v", a, curve, set)
	}
	s.Memory = func() int64 { return 10 }
	var fault Fault
	put(t, s, `{"what":"open",`+ball+`}`, &fault)
	if !strings.Contains(fault.Error, "a page has 10 B left") {
		t.Errorf("of too much memory: %+v", fault)
	}
}

// The drawing, the table and the files are of one curve, and the ends of the axis lie within the drawing.
func TestFiles(t *testing.T) {
	s := session()
	var curve Curve
	put(t, s, `{"what":"curve",`+ball+`}`, &curve)
	var none any
	csv := string(put(t, s, `{"what":"csv",`+ball+`}`, &none))
	drawn := string(put(t, s, `{"what":"svg",`+ball+`}`, &none))
	if !strings.HasPrefix(csv, curve.Comment+"\nlevel,change,chi\n") || !strings.Contains(drawn, "VERIFIED by") {
		t.Errorf("%s\n%s", csv, drawn)
	}
	var rows []Row
	put(t, s, `{"what":"rows",`+ball+`,"rows":1}`, &rows)
	if int64(len(rows)) != 1 || !strings.Contains(csv, "\n"+rows[0].Level+",") {
		t.Errorf("rows %v of\n%s", rows, csv)
	}
	var p Plot
	put(t, s, `{"what":"plot",`+ball+`,"width":640,"least":-5,"most":9}`, &p)
	if !strings.Contains(p.SVG, `width="640"`) || !strings.Contains(p.SVG, ">−5<") ||
		p.Left <= 0 || p.Right < p.Left || p.Right > 640 || p.One >= p.Zero {
		t.Errorf("%+v", p)
	}
}
