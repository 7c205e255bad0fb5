package impls_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/datasets"
	"eccbench/datasets/files"
	"eccbench/datasets/files/format"
	"eccbench/impls"
	"eccbench/impls/cpu"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/ecctest"
)

// The oracles are GUDHI, scikit-image, NumPy and SciPy, run by the Python in this variable. If it
// is set, a missing oracle is a failure.
const oraclePython = "ECCBENCH_ORACLE_PYTHON"

// oracle runs a tool of testdata/oracle.py and reads its JSON answer.
func oracle(t *testing.T, answer any, tool string, args ...string) {
	t.Helper()
	python := os.Getenv(oraclePython)
	if python == "" {
		t.Skipf("%s is not set: it names a Python that has gudhi and scikit-image, such as /usr/bin/python3 with Debian's python3-gudhi and python3-skimage", oraclePython)
	}
	cmd := exec.Command(python, append([]string{"testdata/oracle.py", tool}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", python, tool, err, stderr.String())
	}
	if err := json.Unmarshal(out, answer); err != nil {
		t.Fatalf("%s printed no JSON: %v\n%s", tool, err, out)
	}
}

// saved are images, and the files that they were saved to.
func saved(t *testing.T, images ...string) (all []*grid.Field, files []string) {
	t.Helper()
	for i, image := range images {
		src, err := datasets.Open(image)
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.npy", i))
		saveNpy(t, path, f)
		all, files = append(all, f), append(files, path)
	}
	return all, files
}

// saveNpy writes a field as an .npy file.
func saveNpy(t *testing.T, path string, f *grid.Field) {
	t.Helper()
	dtype := map[grid.Type]string{grid.Uint8: "|u1", grid.Int16: "<i2", grid.Uint16: "<u2", grid.Float32: "<f4"}[f.Type()]
	s := f.Shape()
	shape := fmt.Sprintf("(%d, %d, %d)", s.D, s.H, s.W)
	if s.D == 1 {
		shape = fmt.Sprintf("(%d, %d)", s.H, s.W)
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	data := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	data = append(append(data, header...), f.Data()...)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

func curve(t *testing.T, impl bench.Implementation[grid.Source, ecc.VCEC], in grid.Source) ecc.VCEC {
	t.Helper()
	conditions := bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}}
	if err := impl.CanDo(in, conditions); err != nil {
		t.Skipf("%s refuses: %v", impl.About().Name, err)
	}
	job, err := impl.Setup(in, conditions)
	if err != nil {
		t.Fatal(err)
	}
	defer job.Close()
	if err := job.Do(nil); err != nil {
		t.Fatal(err)
	}
	v, err := job.Out()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// answered returns the answer of an implementation on two cores. It skips the test if an
// implementation on a device rejects the input, for example without a device.
func answered[In, Out any](t *testing.T, i bench.Implementation[In, Out], in In) Out {
	t.Helper()
	out, err := bench.Answer(i, in, bench.Conditions{Setting: bench.Setting{Scope: bench.E2E, Threads: 2}})
	if errors.As(err, new(bench.Refusal)) && i.About().Where != "cpu" {
		t.Skipf("%s refuses: %v", i.About().Name, err)
	}
	if err != nil {
		t.Fatalf("%s: %v", i.About().Name, err)
	}
	return out
}

// oldGudhi is the reason to skip questions.
const oldGudhi = "this GUDHI takes voxels for top cells alone; 3.8 has vertices"

func TestAgainstGudhi(t *testing.T) {
	rng := rand.New(rand.NewPCG(20, 16))
	var all []*grid.Field
	var files []string
	for i := range 20 {
		side := func() int64 { return 2 + rng.Int64N(15) }
		shape := grid.Shape{D: side(), H: side(), W: side()}
		if i%5 == 4 {
			shape.D = 1
		}
		typ := grid.Types()[i%4]
		levels := []int{2, 3, 9, 100, 250}[i%5] // ties, then few of them
		src, err := datasets.Open(fmt.Sprintf("noise/shape=%v/type=%v/levels=%d/seed=%d", shape, typ, levels, i+1))
		if err != nil {
			t.Fatal(err)
		}
		f, err := grid.Load(src)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), fmt.Sprintf("%d.npy", i))
		saveNpy(t, path, f)
		all, files = append(all, f), append(files, path)
	}
	w := bench.Workload[grid.Source, ecc.VCEC]{Impls: impls.List(impls.Devices())}
	for _, vertices := range []bool{false, true} {
		for _, rings := range []grid.Axes{{}, {X: true}, {Y: true, X: true}, {Z: true}, {X: true, Y: true, Z: true}} {
			c := ecc.Convention{Vertices: vertices, Periodic: rings}
			var fields []*grid.Field
			var with []string
			for i, f := range all {
				if rings.Check(f.Shape()) == nil {
					fields, with = append(fields, f), append(with, files[i])
				}
			}
			construction, axes := "T", strings.ReplaceAll(rings.String(), ",", "")
			if vertices {
				construction = "V"
			}
			var want [][][2]float64
			oracle(t, &want, "gudhi", append([]string{construction, cmp.Or(axes, "-")}, with...)...)
			if want == nil && vertices {
				t.Run(construction+"/"+axes, func(t *testing.T) { t.Skip(oldGudhi) })
				continue
			}
			if len(want) != len(fields) {
				t.Fatalf("gudhi answered %d of %d volumes", len(want), len(fields))
			}
			for _, impl := range ecc.InConvention(w, c).Impls {
				t.Run(impl.About().Name+"/"+construction+"/"+axes, func(t *testing.T) {
					for i, f := range fields {
						v := curve(t, impl, f)
						for _, p := range want[i] {
							if got := v.At(f.Ladder().Level(float32(p[0]))); got != int64(p[1]) {
								t.Errorf("volume %d (%v %v), value %v: χ = %d, gudhi %v", i, f.Shape(), f.Type(), p[0], got, p[1])
								break
							}
						}
					}
				})
			}
		}
	}
}

// ch2 is a brain scan, 181×217×181 of uint8, from Debian's package mricron-data.
const ch2 = "/usr/share/mricron/templates/ch2.nii.gz"

func TestAgainstScikitImage(t *testing.T) {
	src, err := files.Open(ch2, format.Options{})
	if err != nil {
		if os.Getenv(oraclePython) != "" {
			t.Fatal(err)
		}
		t.Skipf("Debian's package mricron-data is not installed: %v", err)
	}
	f, err := grid.Load(src)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "ch2.npy")
	saveNpy(t, path, f)
	levels := []string{"0", "1", "20", "40", "60", "80", "100", "130", "200", "254"}
	w := bench.Workload[grid.Source, ecc.VCEC]{Impls: impls.List(impls.Devices())}
	for _, c := range ecctest.Conventions() {
		construction, sets := "T", "sublevel"
		if c.Vertices {
			construction = "V"
		}
		if c.Superlevel {
			sets = "superlevel"
		}
		var want []int64
		oracle(t, &want, "skimage", append([]string{path, construction, sets}, levels...)...)
		if len(want) != len(levels) {
			t.Fatalf("scikit-image answered %d of %d levels", len(want), len(levels))
		}
		for _, impl := range ecc.InConvention(w, c).Impls {
			t.Run(impl.About().Name+"/"+construction+"/"+sets, func(t *testing.T) {
				v := curve(t, impl, f)
				for i, l := range levels {
					var level int64
					fmt.Sscan(l, &level)
					got := v.At(level)
					if c.Superlevel { // the set above the level before
						got = v.At(f.Ladder().Len()) - v.At(level-1)
					}
					if got != want[i] {
						t.Errorf("level %s: χ = %d, scikit-image %d", l, got, want[i])
					}
				}
			})
		}
	}
}

// The published values of the same scan, without any oracle.
func TestBrainScan(t *testing.T) {
	src, err := files.Open(ch2, format.Options{})
	if err != nil {
		t.Skipf("Debian's package mricron-data is not installed: %v", err)
	}
	v := curve(t, cpu.Implementation{}, src)
	for level, want := range map[int64]int64{0: 40, 40: -541, 100: -615, 254: 1} {
		if got := v.At(level); got != want {
			t.Errorf("χ = %d at level %d, want %d", got, level, want)
		}
	}
}
