package counting_test

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"eccbench/impls/betti/duality"
	"eccbench/impls/betti/labels"
	curves "eccbench/impls/betticurves/duality"
	"eccbench/internal/bench"
	"eccbench/internal/device"
	"eccbench/internal/device/devicetest"
	"eccbench/internal/grid"
	"eccbench/internal/resident"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/betti/counting"
	"eccbench/internal/workloads/ecc/ecctest"
	"eccbench/kernels/hosttest"
)

// batches are images of one shape and type, with limits between, below and above their values.
var batches = []struct {
	shape, typ string
	images     int
	limits     []float32
	above      bool
}{
	{"16x7x5", "uint8", 3, []float32{10, 100, 101, 250}, false}, {"12x11", "int16", 2, []float32{0, 5000, 5001}, false},
	{"13x7x5", "uint8", 4, []float32{-1, 100.5, 180, 255}, false}, {"28x28", "uint8", 5, []float32{64}, false},
	{"9x6x4", "uint8", 2, []float32{-1, 60, 255}, true}, {"7x5x70", "int16", 2, []float32{-40000, -5000, 5000}, false},
	{"66x3x3", "uint16", 2, []float32{30000, 50000}, true}, {"20x9x5", "float32", 3, []float32{0.3, 0.6}, false},
	{"66x34x33", "uint8", 1, []float32{120, 200}, true},
}

func TestBatchOnHost(t *testing.T) {
	driver := devicetest.New(1, hosttest.Modules(t, "", "betti_duality", "betti_curves"))
	testBatches(t, ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil })))
}

// The numbers do not depend on the order of threads.
func TestBatchInterleaved(t *testing.T) {
	testBatches(t, ecctest.Interleaved(t, 1, "betti_duality", "betti_curves"))
}

func TestBatchOnDevice(t *testing.T) { testBatches(t, ecctest.Device(t)) }

// A batch whose images and limits are confused has wrong numbers.
func TestBatchOfFault(t *testing.T) {
	driver := devicetest.New(1, hosttest.Modules(t, "question", "betti_duality"))
	d, err := ecctest.Closing(t, resident.OpenOnce(func() (device.Driver, error) { return driver, nil }))("")
	if err != nil {
		t.Fatal(err)
	}
	b := batches[2]
	shape, typ, data, want := asked(t, b.shape, b.typ, b.images, b.limits, b.above)
	guest := d.(device.Guest)
	batch, err := duality.OpenBatch(guest, shape, typ, b.limits, b.above)
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Close()
	if got := numbers(t, guest, batch, int64(b.images), 0, data); slices.Equal(got, want) {
		t.Error("the planted fault is not noticed")
	}
}

// testBatches compares the numbers of batches with numbers of each image alone on a core.
func testBatches(t *testing.T, open resident.Opener) {
	t.Helper()
	d, err := open("")
	if err != nil {
		t.Fatal(err)
	}
	guest := d.(device.Guest)
	for _, b := range batches {
		t.Run(fmt.Sprintf("%s,%s,above=%v", b.shape, b.typ, b.above), func(t *testing.T) {
			shape, typ, data, want := asked(t, b.shape, b.typ, b.images, b.limits, b.above)
			for _, chunk := range []int64{1 << 10, 3, 1} {
				batch, err := duality.OpenBatch(guest, shape, typ, b.limits, b.above)
				if err != nil {
					t.Fatal(err)
				}
				images := min(int64(b.images), batch.Narrowed(chunk).Most())
				if got := numbers(t, guest, batch, images, chunk%3*typ.Size(), data); !slices.Equal(got, want[:len(got)]) {
					t.Errorf("%d questions at a time: %v, want %v", chunk, got, want)
				}
				if err := batch.Close(); err != nil {
					t.Error(err)
				}
			}
			testCurves(t, guest, shape, typ, b.limits, b.above, int64(b.images), data, want)
		})
	}
}

// testCurves compares the numbers at all limits together, the greatest limit first for sets above them.
func testCurves(
	t *testing.T, d device.Guest, s grid.Shape, typ grid.Type, limits []float32, above bool, images int64, data []byte,
	want []int64,
) {
	t.Helper()
	want = slices.Clone(want)
	for row := range slices.Chunk(want, 3*len(limits)) {
		if above {
			for i, j := 0, len(row)-3; i < j; i, j = i+3, j-3 {
				for k := range 3 {
					row[i+k], row[j+k] = row[j+k], row[i+k]
				}
			}
		}
	}
	for _, chunk := range []int64{1 << 10, 1} {
		batch, err := curves.OpenBatch(d, s, typ, limits, above)
		if err != nil {
			t.Fatal(err)
		}
		images := min(images, batch.Narrowed(chunk).Most())
		if got := numbers(t, d, batch, images, 0, data); !slices.Equal(got, want[:len(got)]) {
			t.Errorf("curves: %v, want %v", got, want)
		}
		if err := batch.Close(); err != nil {
			t.Error(err)
		}
	}
}

// asked returns the voxels of random images one after the other, and the numbers of each at each limit.
func asked(t *testing.T, shape, typ string, images int, limits []float32, above bool) (
	s grid.Shape, of grid.Type, data []byte, want []int64,
) {
	t.Helper()
	levels := ""
	if typ == "float32" {
		levels = "/levels=64"
	}
	for i := range images {
		_, f := ecctest.Open(t, fmt.Sprintf("noise/shape=%s/type=%s%s/seed=%d", shape, typ, levels, i))
		s, of = f.Shape(), f.Type()
		data = append(data, f.Data()...)
		for _, limit := range limits {
			outside := grid.NewBuffer(s.Voxels()) // 0 inside, 1 outside
			if err := (&betti.Image{Source: f, Threshold: limit}).Binary().ReadSlab(outside, 0, s.Slices()); err != nil {
				t.Fatal(err)
			}
			for v := range outside {
				if above {
					outside[v] ^= 1
				}
			}
			set, err := grid.Trusted(s, grid.Uint8, outside, grid.Identity(grid.Uint8))
			if err != nil {
				t.Fatal(err)
			}
			n, err := bench.Answer(labels.Implementation{}, &betti.Image{Source: set}, bench.Conditions{})
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, n.B0, n.B1, n.B2)
		}
	}
	return s, of, data, want
}

// held are the buffers of a caller.
type held struct {
	s             device.Stream
	image, memory device.Buffer
}

func hold(t *testing.T, d device.Guest, data []byte, b *counting.Batch, images, shift int64) (h held) {
	t.Helper()
	var err error
	if h.s, err = d.NewStream("the caller's"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.s.Close() })
	put := func(data []byte) device.Buffer {
		p, err := d.Alloc("the caller's", int64(len(data)+15)/16*16)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		if err := h.s.Upload(p, 0, data); err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := put(slices.Concat(make([]byte, shift), data))
	h.image = d.LentBuffer("images", whole.Address()+uint64(shift), int64(len(data)))
	h.memory = put(slices.Repeat([]byte{0x5a}, int(b.Memory()*min(images, b.Most()))))
	return h
}

// numbers returns the Betti numbers of the first images, and checks that the images remain.
func numbers(t *testing.T, d device.Guest, b *counting.Batch, images, shift int64, data []byte) []int64 {
	t.Helper()
	c := hold(t, d, data, b, images, shift)
	answer, err := d.Alloc("numbers", b.Answer()*images)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Close()
	if err := b.Enqueue(c.s, images, c.image, answer, c.memory); err != nil {
		t.Fatal(err)
	}
	out, back := make([]byte, answer.Bytes()), make([]byte, len(data))
	if err := c.s.Download(out, answer, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.s.Download(back, c.image, 0); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(back, data) {
		t.Error("the images were written to")
	}
	got := make([]int64, len(out)/8)
	if _, err := binary.Decode(out, binary.LittleEndian, got); err != nil {
		t.Fatal(err)
	}
	return got
}
