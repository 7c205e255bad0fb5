package softbatch

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"

	"eccbench/internal/fields"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/softecc"
)

func open(t *testing.T, name string) problem {
	t.Helper()
	p, err := Inputs{}.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func define(t *testing.T, p problem) (list answers) {
	t.Helper()
	for i := range p.Len() {
		q, err := p.At(i)
		if err != nil {
			t.Fatal(err)
		}
		a, err := softecc.Define(q)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

func bytesOf(t *testing.T, s grid.Source) []byte {
	t.Helper()
	data := make([]byte, grid.TotalBytes(s))
	if err := s.ReadSlab(data, 0, s.Shape().Slices()); err != nil {
		t.Fatal(err)
	}
	return data
}

const twenty = "softecc-batch/count=20/m=2/lambda=100/alpha=0/dir=3/of=noise/shape=64x64/type=float32/seed=5"

// Each law alone accepts right answers and notices wrong ones; one that draws images, sooner or later.
func TestLaws(t *testing.T) {
	const (
		every = "one pass over all cells of each image"
		some  = "one pass over all cells of drawn images"
		twice = "no two images have one answer"
		one   = "an image alone"
	)
	p := open(t, twenty)
	right := define(t, p)
	ask := func(q problem) (answers, error) { return define(t, q), nil }
	for what, c := range map[string]struct {
		spoil func(answers) answers
		by    []string
	}{
		"the first is wrong": {func(list answers) answers { list[0].Lambda *= 1.001; return list }, []string{every, some, one}},
		"one is wrong":       {func(list answers) answers { list[19].Lambda *= 1.001; return list }, []string{every, some, one}},
		"the last two are equal": {func(list answers) answers { list[19] = list[18]; return list },
			[]string{every, some, twice, one}},
		"every other one is equal": {func(list answers) answers { list[19] = list[17]; return list },
			[]string{every, some, twice, one}},
		"two are swapped": {func(list answers) answers { list[18], list[19] = list[19], list[18]; return list },
			[]string{every, some, one}},
		"one is missing":    {func(list answers) answers { return list[:19] }, []string{every, some, one}},
		"no one is missing": {func(list answers) answers { return list }, nil},
	} {
		out := c.spoil(slices.Clone(right))
		for _, l := range laws() {
			tries := 1
			switch by := slices.Contains(c.by, l.Name); {
			case by && l.Name == some:
				tries = 30
			case by && l.Name == one:
				tries = 700
			}
			seen := false
			for range tries {
				d, _, err := l.Try(p, out, ask)
				if err != nil {
					t.Fatal(err)
				}
				if seen = d != nil; seen {
					break
				}
			}
			if want := slices.Contains(c.by, l.Name); seen != want {
				t.Errorf("%s: %s: seen %v, want %v", what, l.Name, seen, want)
			}
		}
		if d, _ := policy().Compare(p, right, out); (d != nil) != (c.by != nil) {
			t.Errorf("%s: the distance is %v", what, d)
		}
	}
}

// The law about an image alone accepts only the same answer about it.
func TestAlone(t *testing.T) {
	p, unread := open(t, twenty), errors.New("unread")
	right := define(t, p)
	for what, answer := range map[string]ask{
		"none": func(problem) (answers, error) { return nil, nil },
		"two":  func(problem) (answers, error) { return right[:2], nil },
		"a wrong one": func(q problem) (answers, error) {
			list := define(t, q)
			list[0].DX[9]++
			return list, nil
		},
	} {
		if d, _, err := (law{Measure: alone}).Try(p, right, answer); d == nil || err != nil {
			t.Errorf("%s: accepted, %v", what, err)
		}
	}
	if _, err := alone(p, right, func(problem) (answers, error) { return nil, unread }); !errors.Is(err, unread) {
		t.Error(err)
	}
}

// Images without any gradient may have one answer, which is weak.
func TestWithoutGradients(t *testing.T) {
	p := open(t, twenty)
	out := define(t, p)
	if why := policy().Weak(p, out); why != "" {
		t.Errorf("weak: %s", why)
	}
	for _, i := range []int{3, 4, 19} {
		out[i].DX = make([]float32, len(out[i].DX))
	}
	if d, err := different(p, out, nil); d != nil || err != nil {
		t.Error(d, err)
	}
	if policy().Weak(p, out) == "" {
		t.Error("three images without a gradient are not weak")
	}
	small := open(t, "softecc-batch/count=2/m=2/lambda=100/alpha=0/dir=3/of=noise/shape=63x65/type=float32/seed=5")
	if _, err := different(small, out[:2], nil); !errors.Is(err, verify.ErrNotApplicable) {
		t.Error(err)
	}
}

// Each image has the next seed and its own upstream gradient, with the numbers of the first one but for signs.
func TestUpstream(t *testing.T) {
	p := open(t, "softecc-batch/count=100/m=16/lambda=100/alpha=0/dir=3/of=noise/shape=8x9/type=float32/seed=5")
	if !slices.Equal(p.Upstream(0), p.G) {
		t.Errorf("image 0 has %v, want %v", p.Upstream(0), p.G)
	}
	seen := map[[16]float64]bool{}
	for i := range p.Len() {
		q, err := p.At(i)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(q.G, p.Upstream(i)) || q.Check() != nil {
			t.Errorf("image %d has %v, want %v", i, q.G, p.Upstream(i))
		}
		alone, err := fields.Inputs{}.Open(fmt.Sprintf("noise/shape=8x9/type=float32/seed=%d", 5+i))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(bytesOf(t, q.Source), bytesOf(t, alone)) {
			t.Errorf("image %d is not of seed %d", i, 5+i)
		}
		seen[[16]float64(q.G)] = true
		magnitudes := func(g []float64) (list []float64) {
			for _, v := range g {
				list = append(list, max(v, -v))
			}
			slices.Sort(list)
			return list
		}
		if !slices.Equal(magnitudes(q.G), magnitudes(p.G)) {
			t.Errorf("image %d has other numbers: %v", i, q.G)
		}
	}
	if len(seen) != 100 {
		t.Errorf("100 images have %d upstream gradients", len(seen))
	}
}

// A batch costs as much as its images.
func TestCost(t *testing.T) {
	c := Inputs{}.Cost(twenty, open(t, twenty))
	if c.Items != 20*64*64 || c.Bytes != 8*c.Items || c.Size != "64x64x20" {
		t.Errorf("%+v", c)
	}
}
