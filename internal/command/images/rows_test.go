package images

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"eccbench/internal/cli"
)

// Every printed level is itself for --at, --range and the levels of Betti numbers.
func TestLevelsReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for typ, put := range map[string]func(b []byte) []byte{
		"float32": func(b []byte) []byte {
			v := float32(rng.NormFloat64() * math.Pow(10, rng.Float64()*60-30))
			return binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		},
		"float16": func(b []byte) []byte { // the exponent of NaN and infinity is left out
			return binary.LittleEndian.AppendUint16(b, uint16(rng.IntN(1<<16)&^(1<<14)))
		},
	} {
		path := filepath.Join(t.TempDir(), "scan.raw")
		var b []byte
		for range 7 * 6 * 5 {
			b = put(b)
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, down := range []string{"--superlevel=false", "--superlevel"} {
			given := []string{path, "--shape", "7x6x5", "--type", typ, "--no-header", down}
			for _, c := range []struct {
				cli.Subcommand
				from int // the first column of the numbers at a level
			}{{Curve(), 2}, {Betti(), 1}} {
				var levels, want []string
				rows := strings.Fields(output(t, c.Subcommand, given...))
				for _, row := range rows {
					cells := strings.Split(row, ",")
					levels, want = append(levels, cells[0]), append(want, strings.Join(cells[c.from:], ","))
				}
				at := strings.Fields(output(t, c.Subcommand, append(given, "--at", strings.Join(levels, ","))...))
				for i, level := range levels {
					if _, got, _ := strings.Cut(at[i], ","); got != want[i] {
						t.Errorf("%s %s %s: --at %s is %s, want %s", c.Name, typ, down, level, got, want[i])
					}
					if i%8 > 0 {
						continue
					}
					if got := output(t, c.Subcommand, append(given, "--range", level+","+level)...); got != rows[i]+"\n" {
						t.Errorf("%s %s %s: --range of %s is %q, want %q", c.Name, typ, down, level, got, rows[i])
					}
				}
			}
		}
	}
}
