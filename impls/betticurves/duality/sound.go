package duality

import (
	"math/rand/v2"
	"slices"

	"eccbench/internal/sound"
)

// Checks are of the kernels of every instruction set.
func (Implementation) Checks(string) []sound.Check {
	return []sound.Check{{Name: "groups of voxels", Of: func(t sound.T) { groupsAreScanned(t, 36) }}}
}

// Every instruction set finds what the portable code does, of bits at random: few of them, so
// that links have many components, or many.
func groupsAreScanned(t sound.T, times int) {
	rng := rand.New(rand.NewPCG(3, 3))
	const row, plane, before = 3, 16, 8
	const apart = plane + 2*before
	dense := func(list []uint64, share int) {
		for i := range list {
			list[i] = 0
			for bit := range 64 {
				if rng.IntN(8) < share {
					list[i] |= 1 << bit
				}
			}
		}
	}
	all := func() uint64 { return -rng.Uint64N(2) }
	for _, name := range available() {
		k, want := kernelOf[uint8](name), portable[uint8]()
		for n := range times {
			s := sight{bits: make([]uint64, 2*middle*apart), apart: apart, row: row, masks: make([]uint64, 18*plane), plane: plane, in: [2]uint64{all(), all()}, out: [2]uint64{all(), all()}}
			s.at = groupWords * rng.IntN(2)
			s.here, s.next = before+s.at, middle*apart+before+s.at
			dense(s.bits, n%9)
			dense(s.masks[:9*plane], 8-n%3)
			dense(s.masks[9*plane:], n%3/2)
			for i := range plane { // what is at a place is a voxel's
				for k := range 18 {
					s.masks[k*plane+i] &= s.masks[4*plane+i]
				}
			}
			var got, is group
			var to, towards [groupVoxels]uint8
			k.links(&got, &s)
			want.links(&is, &s)
			if got.link != is.link {
				t.Fatalf("%s: other links of group %d", name, n)
			}
			k.set(&got, &to)
			want.set(&is, &towards)
			same(t, name, &got.set, &is.set)
			if to != towards {
				t.Fatalf("%s: voxels of group %d descend to others", name, n)
			}
			k.around(&got, &s, &to)
			want.around(&is, &s, &towards)
			same(t, name, &got.around, &is.around)
			if to != towards {
				t.Fatalf("%s: voxels around group %d descend to others", name, n)
			}
		}
		var got, is group // whose links have a component at each corner
		var to, towards [groupVoxels]uint8
		for k := range is.link {
			if k == middle || k%2 == 0 && k/9 != 1 && k/3%3 != 1 && k%3 != 1 {
				is.link[k] = lanes{3: 1 << 5, 6: ^uint64(0)}
			}
		}
		got.link = is.link
		k.set(&got, &to)
		want.set(&is, &towards)
		same(t, name, &got.set, &is.set)
		if is.set.rounds != mostRounds || to != towards {
			t.Errorf("%s: eight components: %d more, want %d, or other places", name, is.set.rounds, mostRounds)
		}
		compared[uint8](t, name, rng)
		compared[uint16](t, name, rng)
		compared[uint32](t, name, rng)
	}
}

// same holds what was found of a group to what is there.
func same(t sound.T, name string, got, is *found) {
	t.Helper()
	if got.minima != is.minima || got.layers != is.layers || got.rounds != is.rounds {
		t.Fatalf("%s: %x, %x, %d; want %x, %x, %d", name, got.minima, got.layers, got.rounds, is.minima, is.layers, is.rounds)
	}
	for n := range is.rounds {
		if got.more[n] != is.more[n] {
			t.Fatalf("%s: round %d: %x, want %x", name, n, got.more[n], is.more[n])
		}
		for i := range is.place[n] {
			if is.more[n][i/64]>>(i%64)&1 == 1 && got.place[n][i] != is.place[n][i] {
				t.Fatalf("%s: round %d: place %d of voxel %d, want %d", name, n, got.place[n][i], i, is.place[n][i])
			}
		}
	}
}

// compared holds comparisons of keys of a type to the portable ones.
func compared[K key](t sound.T, name string, rng *rand.Rand) {
	t.Helper()
	const row, plane, words = 2, 8, 8
	at := 64*(row+plane) + 1
	keys := make([]K, at+64*words)
	for i := range keys {
		keys[i] = K(rng.Uint32()) >> (rng.IntN(2) * 6)
	}
	for _, apart := range []int{words, words + 5} {
		got, want := make([]uint64, middle*apart), make([]uint64, middle*apart)
		kernelOf[K](name).compare(got, keys, at, apart, row, plane, words)
		portable[K]().compare(want, keys, at, apart, row, plane, words)
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %T: other bits", name, keys)
		}
	}
}
