package matching_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"eccbench/impls/assess/matching"
	"eccbench/internal/device"
	"eccbench/internal/grid"
	"eccbench/internal/grid/gridtest"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/assess"
	"eccbench/internal/workloads/betti/counting"
	"eccbench/internal/workloads/ecc/ecctest"
)

// batches are pairs of random masks of one shape, which differ in a share of the voxels.
var batches = []struct {
	shape  grid.Shape
	filled float64
}{
	{grid.Shape{D: 1, H: 1, W: 1}, 0.5}, {grid.Shape{D: 1, H: 1, W: 70}, 0.5}, {grid.Shape{D: 1, H: 9, W: 8}, 0.5},
	{grid.Shape{D: 1, H: 40, W: 129}, 0.6}, {grid.Shape{D: 1, H: 60, W: 66}, 0.4}, {grid.Shape{D: 2, H: 5, W: 4}, 0.5},
	{grid.Shape{D: 7, H: 6, W: 5}, 0.3}, {grid.Shape{D: 5, H: 1, W: 67}, 0.5}, {grid.Shape{D: 9, H: 8, W: 1}, 0.5},
	{grid.Shape{D: 8, H: 9, W: 130}, 0.1}, {grid.Shape{D: 8, H: 9, W: 130}, 0.3}, {grid.Shape{D: 9, H: 7, W: 64}, 0.8},
	{grid.Shape{D: 6, H: 7, W: 190}, 0.92}, {grid.Shape{D: 12, H: 11, W: 10}, 0.97}, {grid.Shape{D: 3, H: 4, W: 5}, 0},
	// Several tiles.
	{grid.Shape{D: 1, H: 300, W: 10}, 0.5}, {grid.Shape{D: 3, H: 70, W: 5}, 0.4}, {grid.Shape{D: 18, H: 19, W: 66}, 0.2},
}

// of returns the masks of some pairs, and the numbers of each by the judge of comparisons.
func of(t *testing.T, s grid.Shape, filled float64, pairs, construction int) (data []byte, want []int64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(s.Voxels()), uint64(construction)))
	for i := range pairs {
		var f [2]*grid.Field
		changed := []float64{0, 0.02, 0.2, 1}[i%4]
		for side := range f {
			f[side] = gridtest.Image(t, s, grid.Uint8, grid.Identity(grid.Uint8), func(at int64) float64 {
				v := 0.0
				if rng.Float64() < filled {
					v = 1
				}
				if side == 1 && rng.Float64() >= changed {
					v = float64(f[0].Data()[at])
				}
				return v
			})
			data = append(data, f[side].Data()...)
		}
		p, err := assess.NewPair(f[0], f[1], grid.Numbers(1), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := assess.BySearch(p)[0]
		want = append(want, c.In[construction].Components, c.In[construction].Holes, c.Pred+c.Truth-2*c.Both)
	}
	return data, want
}

type opener func(device.Guest, grid.Shape, bool) (*counting.Batch, error)

// differs returns the difference between the numbers of kernels and those of the judge.
func differs(t *testing.T, d device.Guest, open opener, s grid.Shape, filled float64, pairs, construction int) error {
	t.Helper()
	data, want := of(t, s, filled, pairs, construction)
	b, err := open(d, s, construction == assess.T)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	stream, err := d.NewStream("the caller's")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	put := func(data []byte) device.Buffer {
		p, err := d.Alloc("the caller's", int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		if err := stream.Upload(p, 0, data); err != nil {
			t.Fatal(err)
		}
		return p
	}
	const junk = 0x5a
	answers := put(slices.Repeat([]byte{junk}, 24*pairs))
	image, memory := put(data), put(slices.Repeat([]byte{junk}, pairs*int(b.Memory())))
	if err := b.Enqueue(stream, int64(pairs), image, answers, memory); err != nil {
		return err
	}
	out, back := make([]byte, answers.Bytes()), make([]byte, len(data))
	if err := stream.Download(out, answers, 0); err != nil {
		t.Fatal(err)
	}
	if err := stream.Download(back, image, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back, data) {
		t.Error("the masks were written to")
	}
	got := make([]int64, len(want))
	if _, err := binary.Decode(out, binary.LittleEndian, got); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%v, %v filled, construction %d: %v, want %v", s, filled, construction, got, want)
	}
	return nil
}

// testKernels compares the kernels and their witness with the judge, for every each-th batch from one on.
func testKernels(t *testing.T, open resident.Opener, from, each int) {
	d, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	for of, open := range map[string]opener{"runs": matching.Open, "labels": matching.OpenWitness} {
		for i, b := range batches {
			if i%each != from {
				continue
			}
			for construction := range assess.Constructions {
				if err := differs(t, d.(device.Guest), open, b.shape, b.filled, 4, construction); err != nil {
					t.Errorf("%s: %v", of, err)
				}
			}
		}
	}
}

func TestKernelsOnHost(t *testing.T) {
	testKernels(t, ecctest.Modules(t, "", "betti_matching", "betti_labels"), 0, 1)
}

// The numbers do not depend on the order of threads.
func TestKernelsInterleaved(t *testing.T) {
	const seeds = 3
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			testKernels(t, ecctest.Interleaved(t, seed, "betti_matching", "betti_labels"), seed, seeds)
		})
	}
}

func TestKernelsOnDevice(t *testing.T) { testKernels(t, ecctest.Device(t), 0, 1) }

// Some batch exposes each fault planted in the kernels.
func TestFaultsPlantedInKernelsShow(t *testing.T) {
	for _, fault := range []string{"lesser", "greater", "crossing", "border", "alone", "pair", "end", "square", "seam"} {
		t.Run(fault, func(t *testing.T) {
			d, err := ecctest.Modules(t, fault, "betti_matching")("")
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range batches {
				for construction := range assess.Constructions {
					if differs(t, d.(device.Guest), matching.Open, b.shape, b.filled, 4, construction) != nil {
						return
					}
				}
			}
			t.Error("no number differs")
		})
	}
}

// Masks with more words than the kernels have nodes for are rejected.
func TestMostWords(t *testing.T) {
	for _, s := range []grid.Shape{{D: 1 << 10, H: 1 << 10, W: 1<<11 + 1}, {D: 1, H: 1<<25 + 1, W: 1}, {D: 1, H: 1, W: 1 << 31}} {
		_, err := matching.Open(nil, s, true)
		if err == nil || !strings.Contains(err.Error(), "compare the masks on the host") {
			t.Errorf("%v: %v", s, err)
		}
	}
}
