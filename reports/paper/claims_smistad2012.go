package paper

import (
	"fmt"
	"slices"
)

// smistad2012 returns the claims of Smistad et al. 2012, by section.
func smistad2012(p Paper) []Claim {
	gpus, cpus := []string{"hd5870", "m5830", "fx5800", "c2070"}, []string{"i5", "i7"}
	device := []string{"texture", "global", "texture-shared", "global-shared", "blocked-gpu"}
	rows := func(table int) []Row { return p.Tables[table-1].Rows }
	// times returns the range of the times of all steps over a table's rows and some processors.
	times := func(n numbers, table int, processors []string) (s span) {
		for _, r := range rows(table) {
			for _, k := range processors {
				s.take(n.value(table, r, k+"_all"))
			}
		}
		return s
	}
	// step returns an implementation's time per step in figure 4, whose bars have no printed numbers.
	step := func(n numbers, impl string) (float64, bool) {
		for _, l := range n.of[4] {
			if l.Impl == impl && l.Measured > 0 && l.Mark == "" {
				return l.Measured, true
			}
		}
		return 0, false
	}
	// against checks that the ratio of two implementations' times is between least and most.
	against := func(one, other string, least, most float64) func(numbers) finding {
		return func(n numbers) finding {
			a, ok := step(n, one)
			b, ok2 := step(n, other)
			if n.impl == "" || !ok || !ok2 {
				return finding{of: 1} // the bars of figure 4 have no numbers
			}
			s := span{of: 1}
			s.add(a / b)
			return s.finding(least <= a/b && a/b <= most, " of its time")
		}
	}
	return []Claim{
		{"2.3", "a volume of 512³ voxels takes 4.5 GB, of half the bytes 2.25 GB", "36 bytes of a voxel, and 18",
			func(n numbers) finding {
				if n.impl != "" {
					return finding{}
				}
				const voxels = 512 * 512 * 512
				whole, half := 36*voxels/float64(1<<30), 18*voxels/float64(1<<30)
				return finding{whole == 4.5 && half == 2.25, fmt.Sprintf("%v and %v GiB", whole, half), 1, 1}
			}, nil, nil, nil},
		{"3.1", "one step, and all of them", "all steps take 0.95 to 1.05 of one step times their number",
			func(n numbers) finding {
				var s span
				if n.impl != "" {
					return finding{}
				}
				for _, table := range []int{1, 2} {
					for _, r := range rows(table) {
						for _, k := range slices.Concat(gpus, cpus) {
							v, ok := n.ratio(table, r, k+"_all", k+"_one")
							s.take(v/float64(r.Times()), ok)
						}
					}
				}
				return s.finding(s.lo >= 0.95 && s.hi <= 1.05, " times")
			}, nil, nil, nil},
		{"3.1", "GPUs are much faster than CPUs",
			"the slowest GPU takes less than a third of the time of the fastest CPU, in 2D and in 3D", func(n numbers) finding {
				s := span{of: 2}
				for _, table := range []int{1, 2} {
					gpu, cpu := times(n, table, gpus), times(n, table, cpus)
					if n.impl != "" {
						least, ok := n.host(table, rows(table)[0])
						if !ok {
							continue
						}
						cpu = span{n: 1}
						cpu.lo = least
					}
					if gpu.n > 0 && cpu.n > 0 {
						s.add(cpu.lo / gpu.hi)
					}
				}
				return s.finding(s.lo > 3, " times as fast")
			}, device, nil, nil},
		{"3.1", "textures are faster than buffers", "a step of texture takes less than one of global",
			against("texture", "global", 0, 0.999), []string{"texture"}, nil, nil},
		{"3.1", "shared memory makes a step slower, of buffers", "a step of global-shared takes more than one of global",
			against("global-shared", "global", 1.001, 1e9), []string{"global-shared"}, nil, nil},
		{"3.1", "shared memory makes a step slower, of textures", "a step of texture-shared takes more than one of texture",
			against("texture-shared", "texture", 1.001, 1e9), []string{"texture-shared"}, nil, nil},
		{"5", "real time for images up to 512²", "512 steps in 100 ms", func(n numbers) finding {
			s := times(n, 1, gpus)
			return s.finding(s.hi <= 0.1, " s")
		}, device, nil, nil},
		{"abstract", "volumes of 256³ in a few seconds", "256 steps in 10 s", func(n numbers) finding {
			s := times(n, 2, gpus)
			return s.finding(s.hi <= 10, " s")
		}, device, nil, nil},
	}
}

// host returns the least time of all steps of a row on the host.
func (n numbers) host(table int, r Row) (float64, bool) {
	least := 0.0
	for _, l := range n.of[table] {
		if l.Series.Where == "cpu" && l.matches(r) && (least == 0 || l.Measured < least) {
			least = l.Measured
		}
	}
	return least, least > 0
}
