package inflate

import (
	"bufio"
	"bytes"
	"compress/flate"
	"io"
	"math/rand/v2"
	"testing"
)

// compress compresses with the standard library, in several blocks.
func compress(t testing.TB, level int, data []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, level)
	if err != nil {
		t.Fatal(err)
	}
	for len(data) > 0 {
		n := min(len(data), 70_000)
		if _, err := w.Write(data[:n]); err != nil {
			t.Fatal(err)
		}
		data = data[n:]
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// samples are data of many codes: few and many literals, runs, near and far copies.
func samples() [][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(n int, f func(i int) byte) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = f(i)
		}
		return b
	}
	walk, text := 0.0, []byte("levels of an image ")
	far := random(200_000, func(int) byte { return byte(rng.Uint32()) })
	for i := 40_000; i+300 < len(far); i += 500 + rng.IntN(500) {
		copy(far[i:i+3+rng.IntN(256)], far[i-1-rng.IntN(window):])
	}
	return [][]byte{
		nil, {7}, []byte("abc"), make([]byte, 300_000), far,
		random(100_000, func(int) byte { return byte(rng.Uint32()) }),
		random(300_000, func(int) byte { walk += rng.NormFloat64(); return byte(walk) }),
		random(200_000, func(int) byte { return byte(rng.ExpFloat64() * 8) }),
		random(100_000, func(i int) byte { return text[i%len(text)] }),
		random(100_000, func(i int) byte { return byte(i/3) & byte(i>>8) }),
	}
}

func TestReader(t *testing.T) {
	for i, data := range samples() {
		for _, level := range []int{flate.HuffmanOnly, flate.NoCompression, 1, 6, 9} {
			source := bufio.NewReaderSize(bytes.NewReader(append(compress(t, level, data), "after"...)), 16<<(i%4*4))
			got, err := io.ReadAll(NewReader(source))
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("sample %d at level %d: %d bytes of %d, or others, error %v", i, level, len(got), len(data), err)
			}
			if rest, _ := io.ReadAll(source); string(rest) != "after" {
				t.Errorf("sample %d at level %d: %.20q follow the stream, want \"after\"", i, level, rest)
			}
		}
	}
}

// agree compares a Reader with the standard library for any data.
func agree(t *testing.T, data []byte) {
	want, fault := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	got, err := io.ReadAll(NewReader(bufio.NewReader(bytes.NewReader(data))))
	if (err == nil) != (fault == nil) {
		t.Errorf("data %.40x…: error %v, want %v", data, err, fault)
	}
	if !bytes.Equal(got, want) && (err == nil || !bytes.HasPrefix(got, want) && !bytes.HasPrefix(want, got)) {
		t.Errorf("data %.40x…: %d bytes that differ from the %d of the standard library", data, len(got), len(want))
	}
}

func TestTruncatedAndChanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, data := range samples() {
		for _, level := range []int{flate.HuffmanOnly, 0, 6} {
			packed := compress(t, level, data[:min(len(data), 3000)])
			for range 60 {
				cut := packed[:rng.IntN(len(packed))]
				if got, err := io.ReadAll(NewReader(bufio.NewReader(bytes.NewReader(cut)))); err != io.ErrUnexpectedEOF || !bytes.HasPrefix(data, got) {
					t.Errorf("the first %d of %d bytes: error %v, or other data", len(cut), len(packed), err)
				}
				agree(t, cut)
				changed := bytes.Clone(packed)
				changed[rng.IntN(min(len(packed), 1+rng.IntN(len(packed))))] ^= 1 << rng.IntN(8)
				agree(t, changed)
			}
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, data := range samples()[:4] {
		f.Add(compress(f, 6, data[:min(len(data), 1000)]))
	}
	f.Fuzz(agree)
}
