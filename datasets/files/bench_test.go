package files

import (
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"eccbench/datasets/files/format"
	"eccbench/internal/crew"
	"eccbench/internal/grid"
)

// BenchmarkZarr reads an image of zstd chunks of 128³ slab by slab, and only decodes the same
// chunks, on the same cores.
func BenchmarkZarr(b *testing.B) {
	const n, side = 512, 128
	image, err := Named.Open("grf/shape=512x512x512/smooth=4/type=uint8")
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
		body, err := describeZarr(s, format.Options{Stream: true})
		if err != nil {
			b.Fatal(err)
		}
		src, err := body.Source()
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
			crew.Share(int64(len(keys)), func(next func() (int64, bool)) {
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
