package checktest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

// A Seed is a sound file, which Mutated damages. Pack, if not nil, makes the file of the damaged bytes: it compresses
// them or adds a checksum.
type Seed struct {
	Name string
	Data []byte
	Pack func([]byte) []byte
}

// slowest is the time limit of one file, on a busy machine.
const slowest = 5 * time.Minute

// Mutated calls a check with damaged copies of the seeds: FUZZ_FILES of them, few by default. FUZZ_SEED chooses the
// random numbers. If a check fails, panics or hangs, its file is written to $TMPDIR.
func Mutated(t *testing.T, few int, seeds []Seed, check func(name string, data []byte)) {
	n, seed := numberOf(t, "FUZZ_FILES", uint64(few)), numberOf(t, "FUZZ_SEED", 1)
	for i := range n {
		r := rand.New(rand.NewPCG(seed, i))
		s := seeds[r.IntN(len(seeds))]
		data := Mutate(r, s.Data)
		if s.Pack != nil {
			data = s.Pack(data)
		}
		checkMutated(fmt.Sprintf("file %d of seed %d", i, seed), s.Name, data, check)
		if (i+1)%100000 == 0 {
			fmt.Printf("%s: %d files\n", t.Name(), i+1)
		}
	}
}

// numberOf returns the number in an environment variable, or the default if it is not set.
func numberOf(t *testing.T, variable string, otherwise uint64) uint64 {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// checkMutated calls a check. If the check fails, it prints where the file is.
func checkMutated(which, name string, data []byte, check func(name string, data []byte)) {
	failed := func() string {
		path := filepath.Join(os.TempDir(), "mutated-"+filepath.Base(name))
		err := os.WriteFile(path, data, 0o666)
		return fmt.Sprintf("%s, made of %s, fails: %s (%v)", which, name, path, err)
	}
	timer := time.AfterFunc(slowest, func() { panic(failed() + ": it takes longer than " + slowest.String()) })
	defer timer.Stop()
	passed := false
	defer func() {
		if !passed { // also by a panic or Fatal
			fmt.Println(failed())
		}
	}()
	check(name, data)
	passed = true
}

// edges are integers near the ends of types.
var edges = []uint64{
	0, 1, 2, 7, 8, 127, 128, 255, 256, 1<<15 - 1, 1 << 15, 1<<16 - 1, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32,
	1<<62 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1,
}

var numberText = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)

// Mutate returns a copy of a file with one to four damages. It changes bits and bytes, writes
// integers and numbers in text near the ends of their types, or cuts the file. It also deletes,
// doubles or moves pieces.
func Mutate(r *rand.Rand, data []byte) []byte {
	data = slices.Clone(data)
	for range 1 + r.IntN(4) {
		if len(data) == 0 {
			return data
		}
		// Headers are at the beginning as a rule.
		at := r.IntN(len(data))
		if r.IntN(2) == 0 {
			at = r.IntN(min(len(data), 512))
		}
		n := 1 + r.IntN(min(64, len(data)-at))
		switch r.IntN(8) {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			data[at] = byte(r.Uint32())
		case 2:
			putEdge(r, data[at:])
		case 3:
			if found := numberText.FindAllIndex(data, 64); len(found) > 0 {
				place := found[r.IntN(len(found))]
				data = slices.Concat(data[:place[0]], []byte(edgeText(r)), data[place[1]:])
			}
		case 4:
			data = data[:at]
		case 5:
			data = slices.Delete(data, at, at+n)
		case 6:
			data = slices.Insert(data, at, slices.Clone(data[at:at+n])...)
		case 7:
			copy(data[r.IntN(len(data)):], slices.Clone(data[at:at+n]))
		}
	}
	return data
}

// putEdge writes an integer at the edge of a type of 1, 2, 4 or 8 bytes, in one order of bytes or the other.
func putEdge(r *rand.Rand, dst []byte) {
	var b [8]byte
	v, size := edges[r.IntN(len(edges))], 1<<r.IntN(4)
	binary.LittleEndian.PutUint64(b[:], v)
	if r.IntN(2) == 0 {
		slices.Reverse(b[:size])
	}
	copy(dst, b[:size])
}

func edgeText(r *rand.Rand) string {
	v := edges[r.IntN(len(edges))]
	switch r.IntN(4) {
	case 0:
		return fmt.Sprint(-int64(v))
	case 1:
		return []string{"1e308", "-0.0", "NaN", "null", "1e-320", `"x"`, "[]", "{}"}[r.IntN(8)]
	}
	return fmt.Sprint(v)
}
