package batch

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/verify"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/ecc/cells"
	"eccbench/internal/workloads/ecc/fingerprint"
)

// Question describes the workload to users.
func Question() bench.Question {
	of := func(count int, images ...string) (list []string) {
		for _, image := range images {
			list = append(list, NameOf(count, image))
		}
		return list
	}
	return bench.Question{
		Doc: "the Euler characteristic curve of each of many images: one by one while others are read, " +
			"or all at once",
		Form: Form(),
		Adversarial: slices.Concat(
			of(1, "noise/shape=1x1/levels=2/type=uint8/seed=1", "noise/shape=3x3x3/levels=256/type=uint16/seed=5"),
			of(5, "noise/shape=37x1/levels=16/type=uint8/seed=2", "noise/shape=1x37/levels=16/type=int16/seed=2", "noise/shape=7x5x3/levels=64/type=float32/seed=3",
				"noise/shape=70x60/levels=256/type=float32/seed=5", "grf/shape=33x17x9/levels=256/type=uint8/smooth=2/seed=3"),
			of(67, "noise/shape=31x29/levels=256/type=uint8/seed=9", "noise/shape=65x33/levels=1024/type=float32/seed=9", "noise/shape=16x15x14/levels=1000/type=int16/seed=4")),
		Small: slices.Concat(of(100, "noise/shape=128x128/levels=1024/type=float32/seed=1", "noise/shape=128x128/levels=256/type=uint8/seed=1"),
			of(10, "noise/shape=64x64x64/levels=1024/type=float32/seed=1")),
	}
}

// Workload returns the workload for some implementations.
func Workload(impls ...bench.Implementation[*Batch, []ecc.VCEC]) bench.Workload[*Batch, []ecc.VCEC] {
	key := fingerprint.Draw(1)
	return bench.Workload[*Batch, []ecc.VCEC]{
		Name: Name, Question: Question(), Inputs: Inputs{}, Impls: impls, Encode: bench.Small(Encode), Decode: Decode,
		Policy: verify.Policy[*Batch, []ecc.VCEC]{
			Agree: agree,
			Laws: []verify.Law[*Batch, []ecc.VCEC]{
				{Name: "changes of each image sum to 1", Check: each},
				{Name: "no two images have one answer", Check: different},
				{Name: "fingerprint of each image", Note: "key " + key.String(), Drawn: true, Independent: true,
					Work: fingerprinting(key), Memory: copies, Check: fingerprinted(key)},
				{Name: "definition at one level of sampled images", Independent: true, Work: counting, Check: definition},
			},
		},
	}
}

// copies estimates the memory of laws that copy all images.
func copies(b *Batch) int64 { return 2 * int64(b.Len()) * grid.TotalBytes(b.First()) }

func agree(_ *Batch, want, got []ecc.VCEC) *verify.Diff {
	if len(want) != len(got) {
		return &verify.Diff{Where: "images", Want: fmt.Sprint(len(want)), Got: fmt.Sprint(len(got))}
	}
	for i := range want {
		if !slices.Equal(want[i], got[i]) {
			return &verify.Diff{Where: fmt.Sprintf("image %d", i), Want: summary(want[i]), Got: summary(got[i])}
		}
	}
	return nil
}

func summary(v ecc.VCEC) string {
	if len(v) == 0 {
		return "no changes"
	}
	return fmt.Sprintf("%d changes, %+d at level %d first", len(v), v[0].Change, v[0].Level)
}

func each(b *Batch, out []ecc.VCEC, _ verify.Ask[*Batch, []ecc.VCEC]) (*verify.Diff, error) {
	if len(out) != b.Len() {
		return &verify.Diff{Where: "answers", Want: fmt.Sprint(b.Len()), Got: fmt.Sprint(len(out))}, nil
	}
	for i, v := range out {
		if sum := v.At(grid.MaxLevels); sum != 1 {
			return &verify.Diff{Where: fmt.Sprintf("image %d, sum of all changes", i), Want: "1", Got: fmt.Sprint(sum)}, nil
		}
	}
	return nil, nil
}

// different rejects an answer that equals that of another image, as if a buffer had not been
// replaced. Images of a few voxels may have equal curves.
func different(b *Batch, out []ecc.VCEC, _ verify.Ask[*Batch, []ecc.VCEC]) (*verify.Diff, error) {
	if b.like.Shape().Voxels() < 1<<12 || b.like.Ladder().Len() < 64 {
		return nil, verify.ErrNotApplicable
	}
	seen := map[string]int{}
	for i, v := range out {
		key := string(ecc.Encode(v))
		if j, ok := seen[key]; ok {
			return &verify.Diff{Where: fmt.Sprintf("images %d and %d", j, i), Want: "two curves", Got: "one"}, nil
		}
		seen[key] = i
	}
	return nil, nil
}

// fingerprinting estimates the time of fingerprinted: each core has one image at a time.
func fingerprinting(key fingerprint.Key) func(*Batch) time.Duration {
	return func(b *Batch) time.Duration {
		one := fingerprint.Work(b.like, key.ForLevels(b.like.Ladder().Len()), 1)
		return one * time.Duration(b.Len()) / time.Duration(runtime.GOMAXPROCS(0))
	}
}

// fingerprinted compares the fingerprint of each answer with that of its image.
func fingerprinted(key fingerprint.Key) func(*Batch, []ecc.VCEC, verify.Ask[*Batch, []ecc.VCEC]) (*verify.Diff, error) {
	return func(b *Batch, out []ecc.VCEC, _ verify.Ask[*Batch, []ecc.VCEC]) (*verify.Diff, error) {
		wrong := make([]*verify.Diff, len(out))
		err := Spread(len(out), runtime.GOMAXPROCS(0), func(_, i int) error {
			s, err := b.Source(i)
			if err != nil {
				return err
			}
			defer grid.Close(s)
			wrong[i], err = ecc.HoldToFingerprint(s, out[i], key, 1)
			return err
		})
		for i, d := range wrong {
			if d != nil && err == nil {
				d.Where = fmt.Sprintf("image %d, %s", i, d.Where)
				return d, nil
			}
		}
		return nil, err
	}
}

// samples is the number of images of a batch that the definition counts.
const samples = 16

// sampled spreads the samples evenly, the first and the last image among them.
func sampled(n int) []int {
	k := min(samples, n)
	list := make([]int, k)
	for i := range list {
		list[i] = i * (n - 1) / max(1, k-1)
	}
	return list
}

func counting(b *Batch) time.Duration {
	voxels := int64(min(samples, b.Len())) * b.like.Shape().Voxels()
	return time.Duration(voxels*6/int64(runtime.GOMAXPROCS(0))) * time.Nanosecond
}

// definition counts one sublevel set of each sampled image from scratch, at
// levels at which the answer changes.
func definition(b *Batch, out []ecc.VCEC, _ verify.Ask[*Batch, []ecc.VCEC]) (*verify.Diff, error) {
	for k, i := range sampled(len(out)) {
		s, err := b.Source(i)
		if err != nil {
			return nil, err
		}
		level := b.like.Ladder().Len() / 2
		if n := len(out[i]); n > 0 {
			level = out[i][(k*7919+n/3)%n].Level
		}
		want, err := cells.Characteristic(s, level)
		grid.Close(s)
		if err != nil {
			return nil, err
		}
		if got := out[i].At(level); got != want {
			return &verify.Diff{Where: fmt.Sprintf("image %d, level %d", i, level), Want: fmt.Sprintf("χ = %d", want),
				Got: fmt.Sprintf("χ = %d", got)}, nil
		}
	}
	return nil, nil
}
