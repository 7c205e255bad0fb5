package datasets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"eccbench/internal/grid"
)

// BenchmarkZarr reads an image of zstd chunks of 128³ slab by slab, and only decodes the same
// chunks, on the same cores.
func BenchmarkZarr(b *testing.B) {
	const n, side = 512, 128
	image, err := Open("grf/shape=512x512x512/smooth=4/type=uint8")
	if err != nil {
		b.Fatal(err)
	}
	whole, err := grid.Load(image)
	if err != nil {
		b.Fatal(err)
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		b.Fatal(err)
	}
	meta := strings.Replace(string(zarrJSON("[512,512,512]", "[128,128,128]")), `{"name":"bytes"}`, `{"name":"bytes"},{"name":"zstd"}`, 1)
	s := memoryStore{"zarr.json": []byte(meta)}
	var keys []string
	chunk := make([]byte, side*side*side)
	for c := range int64(n / side * n / side * n / side) {
		k, j, i := c/16, c/4%4, c%4
		for z := range int64(side) {
			for y := range int64(side) {
				copy(chunk[(z*side+y)*side:][:side], whole.Data()[((k*side+z)*n+j*side+y)*n+i*side:])
			}
		}
		key := fmt.Sprintf("c/%d/%d/%d", k, j, i)
		s[key], keys = z.EncodeAll(chunk, nil), append(keys, key)
	}
	b.Run("slabs", func(b *testing.B) {
		b.SetBytes(n * n * n)
		body, err := describeZarr(s, FileOptions{Stream: true})
		if err != nil {
			b.Fatal(err)
		}
		src, err := body.source()
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := grid.EachSlab(src, func([]byte, int64, int64) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decoding alone", func(b *testing.B) {
		b.SetBytes(n * n * n)
		step, err := zstd.NewReader(nil)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			share(int64(len(keys)), func(next func() (int64, bool)) {
				out := make([]byte, 0, len(chunk))
				for i, ok := next(); ok; i, ok = next() {
					if _, err := step.DecodeAll(s[keys[i]], out); err != nil {
						b.Error(err)
					}
				}
			})
		}
	})
}

// BenchmarkReadSlab makes slabs of 32 slices of 512² voxels, one after another. Compare cores with
// -cpu.
func BenchmarkReadSlab(b *testing.B) {
	for _, name := range []string{
		"noise/shape=512x512x4096/type=uint8",
		"noise/shape=512x512x4096/type=float32",
		"noise/shape=512x512x4096/type=uint16",
		"grf/shape=512x512x4096/smooth=2",
		"grf/shape=512x512x4096/smooth=2/type=uint8",
		"grf/shape=2048x2048x256/smooth=2/type=uint8",
		"grf/shape=512x512x4096/smooth=4",
		"grf/shape=512x512x4096/smooth=16",
		"grf/shape=4096x65536/smooth=2",
		"distinct/shape=512x512x64",
		"ball/shape=512x512x512/type=uint8",
		"torus/shape=512x512x512/type=uint8",
		"ramp/shape=512x512x512/type=uint8",
	} {
		for _, isa := range available() {
			b.Run(name+"/isa="+isa, func(b *testing.B) {
				s := openOn(b, name, isa)
				n := min(s.Shape().Slices(), (8<<20)/s.Shape().SliceVoxels())
				buf := grid.NewBuffer(n * grid.SliceBytes(s))
				at := int64(0)
				for b.Loop() {
					if err := s.ReadSlab(buf, at, at+n); err != nil {
						b.Fatal(err)
					}
					if at += n; at+n > s.Shape().Slices() {
						at = 0
					}
				}
				voxels := float64(n*s.Shape().SliceVoxels()) * float64(b.N)
				b.ReportMetric(voxels/b.Elapsed().Seconds(), "vox/s")
			})
		}
	}
}

// BenchmarkImage makes whole images, as for measurements in memory.
func BenchmarkImage(b *testing.B) {
	for _, name := range []string{
		"noise/shape=512x512x512/type=uint8",
		"grf/shape=512x512x512/smooth=2",
		"grf/shape=512x512x512/smooth=2/type=uint8",
		"grf/shape=1024x1024x256/smooth=2",
		"grf/shape=512x512x512/smooth=4",
	} {
		for _, isa := range available() {
			b.Run(name+"/isa="+isa, func(b *testing.B) {
				s := openOn(b, name, isa)
				buf := grid.NewBuffer(s.Shape().Slices() * grid.SliceBytes(s))
				for b.Loop() {
					if err := s.ReadSlab(buf, 0, s.Shape().Slices()); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(s.Shape().Voxels())*float64(b.N)/b.Elapsed().Seconds(), "vox/s")
			})
		}
	}
}
