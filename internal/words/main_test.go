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
		"+++ b/a_amd64.s", "@@ -3 +4 @@", "+// " + long,
	}, "\n")
	var got []string
	for _, l := range parse(diff) {
		for _, why := range l.breaks() {
			got = append(got, l.path+": "+why)
		}
	}
	want := []string{
		`a.go: "what a": write name the thing (a noun, not a clause)`,
		"a.go: 121 columns: at most 120",
		`doc/a.md: "by itself": write alone, or separately`,
		`doc/a.md: "as it is to be": write equal, except, or similar`,
		`doc/a.md: "stands": write is`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
