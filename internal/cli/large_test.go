package cli

import (
	"slices"
	"testing"
)

func TestRepeated(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		name, repeat string
		memory       int64
	}{
		{"noise/shape=1024x1024x1024/levels=256/type=uint8/seed=1", "", 3 * gib},
		{"noise/shape=1024x1024x1024/levels=1024/type=float32/seed=1", "/repeat=256", 3 * gib},
		{"noise/shape=1024x1024x1024/levels=1024/type=float32/seed=1", "", 12 * gib},
		{"noise/shape=4096x4096x4096/levels=256/type=uint8/seed=1", "/repeat=64", 100 * gib},
		{"noise/shape=4096x4096x4096/levels=256/type=uint8/seed=1", "/repeat=10", gib / 2},
		{"grf/shape=65536x65536/levels=256/type=uint8/smooth=2/seed=1", "/repeat=16384", 6 * gib},
		// 719 · 513 bytes end with a small page 4,096 slices later, and with a large one never.
		{"noise/shape=719x513x9000/levels=256/type=uint8/seed=1", "/repeat=4096", 6 * gib},
		{"noise/shape=719x513x9000/levels=256/type=uint8/seed=1", "", 3 * gib},
		{"noise/shape=720x512x9000/levels=256/type=uint8/seed=1", "/repeat=2816", 6 * gib},
		{"noise/shape=719x1024x9000/levels=256/type=uint8/seed=1", "/repeat=2048", 6 * gib},
		{"noise/shape=4096x4096x4096/levels=256/type=uint8/seed=1", "", 3 * 4096},
	} {
		got, err := Repeated([]string{c.name}, 3, c.memory)
		if err != nil || !slices.Equal(got, []string{c.name + c.repeat}) {
			t.Errorf("%s in %d bytes: %v, %v; want %q", c.name, c.memory, got, err, c.repeat)
		}
	}
	if _, err := Repeated([]string{"nose/shape=1x1"}, 3, gib); err == nil {
		t.Error("no error of a name that is none")
	}
}
