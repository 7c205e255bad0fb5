package main

import (
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", columns+1)
	diff := strings.Join([]string{
		"+++ b/a.go", "@@ -1,0 +7,4 @@", "+// Size is what a file has.", "+var what = 1 // the number of cores", "+\tx := \"what is it\"", "+" + long,
		"+++ b/doc/a.md", "@@ -3 +4 @@", "+As it is to be, it stands by itself.", "+| " + long + " |",
		"+++ b/b.go", "@@ -3,2 +3 @@", "-// who asks for it", "-" + long, "+" + long + "y", "+// who asks for it again",
		"+++ b/a_avx2_amd64.go", "@@ -3 +4 @@", "+// " + long,
	}, "\n")
	lines := append(parse(diff), line{path: "a_test.go", text: long + " // so much", mayBeWide: true},
		line{path: "c.go", text: `s := "` + long + `"`})
	var got []string
	for _, fault := range faults(lines) {
		fault, _, _ = strings.Cut(fault, "\n")
		got = append(got, fault)
	}
	want := []string{
		`a.go:7: "what a": write name the thing (a noun, not a clause)`,
		"a.go:10: 121 columns: at most 120",
		`doc/a.md:4: "by itself": write alone, or separately`,
		`doc/a.md:4: "as it is to be": write equal, except, or similar`,
		`doc/a.md:4: "stands": write is`,
		`a_test.go:0: "so much": write N, or the number of`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
