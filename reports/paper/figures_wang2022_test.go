package paper

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/race"
	"eccbench/internal/workloads/ecc"
)

func count(s grid.Source) (ecc.VCEC, error) {
	j, err := cpu.Implementation{}.Setup(s, bench.Conditions{Setting: bench.Setting{Scope: bench.File, Threads: 2}})
	if err != nil {
		return nil, err
	}
	if err := j.Do(nil); err != nil {
		return nil, err
	}
	return j.Out()
}

func TestFigures(t *testing.T) {
	if race.Enabled {
		t.Skip("what counts their curves is looked at for races by itself, and drawing takes a minute then")
	}
	figures, err := Figures(count)
	if err != nil || len(figures) != 4 {
		t.Fatal(len(figures), err)
	}
	for _, f := range figures {
		if f.About == "" {
			t.Errorf("%s: nothing is said of it", f.Name)
		}
		if strings.HasSuffix(f.Name, ".png") {
			m, err := png.Decode(bytes.NewReader(f.Data))
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			seen := map[any]bool{}
			for x := range m.Bounds().Dx() {
				seen[m.At(x, m.Bounds().Dy()/2)] = true
			}
			if len(seen) < 20 {
				t.Errorf("%s: %d colours in a row", f.Name, len(seen))
			}
			continue
		}
		for d := xml.NewDecoder(bytes.NewReader(f.Data)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
	}
	again, err := Figures(count)
	if err != nil || !slices.EqualFunc(figures, again, func(a, b Figure) bool { return bytes.Equal(a.Data, b.Data) }) {
		t.Error("the figures differ when they are drawn again", err)
	}
}

// A curve that is not the Betti numbers' difference is not drawn.
func TestFiguresRefuseWrongCurves(t *testing.T) {
	_, err := Figures(func(s grid.Source) (ecc.VCEC, error) {
		v, err := count(s)
		v[len(v)/2].Change++
		return v, err
	})
	if err == nil || !strings.Contains(err.Error(), "components and") {
		t.Error(err)
	}
}
