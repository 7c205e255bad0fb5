package reduced

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"eccbench/internal/bench"
	"eccbench/internal/simplicial"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/homology"
)

// fileOf is the problem of a complex as a file holds it, from whose name nothing follows.
func fileOf(t *testing.T, name string) *homology.Problem {
	t.Helper()
	n, err := simplicial.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := n.Open()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for d, tops := range c.Tops {
		for at := 0; at < len(tops); at += d + 1 {
			for _, v := range tops[at : at+d+1] {
				fmt.Fprint(&text, v, " ")
			}
			fmt.Fprintln(&text)
		}
	}
	path := filepath.Join(t.TempDir(), "complex.txt")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := homology.Inputs{}.Open("file/over=Z/path=" + path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The policy alone finds lost torsion of files, and orders that do not divide each other.
func TestPolicyCatchesLostTorsionOfFiles(t *testing.T) {
	const mixed = "wedge/with=moore,n=9/of=wedge/with=moore,n=4/of=moore/n=6"
	for of, faults := range map[string][]Fault{
		"moore/n=5": {"", OddDropped}, "moore/n=9": {"", OddDropped, PowersDropped}, mixed: {"", PowersDropped, OnePass},
		"wedge/with=moore,n=15/of=wedge/with=moore,n=10/of=moore/n=6": {"", OnePass}, "moore/n=4": {"", PowersDropped},
	} {
		p := fileOf(t, of)
		for _, fault := range faults {
			out, err := bench.Answer[*homology.Problem, homology.Groups](Faulty(fault), p, bench.Conditions{})
			if err != nil {
				t.Fatal(err)
			}
			evidence := homology.Workload().Policy.Check(verify.Question[*homology.Problem, homology.Groups]{Name: "a file", In: p, Out: out, Budget: 1 << 40})
			want := verify.Wrong
			if fault == "" {
				want = verify.Verified
			}
			if v := verify.Judge([]string{"a file"}, evidence); v.Status != want {
				t.Errorf("%s with %q: %v is %v, %s", of, fault, out, v.Status, v.Reason)
			}
		}
	}
}
