package paper

import (
	"fmt"
	"slices"

	"eccbench/internal/quantity"
)

// wang2022 returns the claims of Wang et al. 2022, by section.
func wang2022(p Paper) []Claim {
	kernels, streams := []string{"tiled", "extrema-gpu"}, []string{"chunked", "extrema-gpu"}
	const large = 512 << 20
	rows := func(table int, want func(Row) bool) (list []Row) {
		for _, r := range p.Tables[table-1].Rows {
			if want(r) {
				list = append(list, r)
			}
		}
		return list
	}
	speedup := func(n numbers, want func(Row) bool) span {
		return spanOf(rows(1, want), func(r Row) (float64, bool) {
			cpu, ok := n.best(1, r, "cpu_overall")
			gpu, ok2 := n.value(1, r, "gpu_overall")
			return cpu / gpu, ok && ok2
		})
	}
	return []Claim{
		{"5.1", "the GPU is faster than the CPU from the disk on, 4 to 6 times above 0.5 GB",
			"CPU over GPU at least 4 wherever the file has 512 MiB or more", func(n numbers) finding {
				s := speedup(n, func(r Row) bool { return r.Bytes() >= large })
				return s.finding(s.lo >= 4, " times")
			}, streams, nil, nil},
		{"5.1", "the CPU is faster for files below about 16 MB", "CPU over GPU below 1 wherever the file has 16 MiB or less",
			func(n numbers) finding {
				s := speedup(n, func(r Row) bool { return r.Bytes() <= 16<<20 })
				return s.finding(s.hi < 1, " times")
			}, streams, nil, nil},
		{"5.1", "the GPU waits for the disk, 75 % of its time and more above 0.5 GB",
			"reading takes 75 % or more wherever the file has 512 MiB or more", func(n numbers) finding {
				s := spanOf(rows(1, func(r Row) bool { return r.Bytes() >= large }), func(r Row) (float64, bool) {
					if n.impl == "" {
						disk, ok := n.value(1, r, "gpu_disk")
						all, ok2 := n.value(1, r, "gpu_overall")
						return 100 * disk / all, ok && ok2
					}
					i := slices.IndexFunc(n.of[1], func(l Line) bool {
						return l.Impl == n.impl && l.Series.Column == "gpu_overall" && l.matches(r) && l.Disk > 0
					})
					if i < 0 {
						return 0, false
					}
					return 100 * n.of[1][i].Disk / n.of[1][i].Measured, true
				})
				return s.finding(s.lo >= 75, " %")
			}, streams, nil, nil},
		{"5.2", "in a batch the start of the GPU costs nothing",
			"of a file's time in the largest batch, what one file alone takes more is 5 % or less when the batch shares it",
			func(n numbers) finding {
				s := spanOf([]string{"uniform noise", "Gaussian random field"}, func(data string) (float64, bool) {
					var one, many float64
					var count int64
					for _, r := range rows(3, func(r Row) bool { return r.Data == data }) {
						v, _ := n.value(3, r, "average")
						if r.Times() == 1 {
							one = v
						} else if r.Times() > count {
							many, count = v, r.Times()
						}
					}
					return 100 * max(0, one-many) / float64(count) / many, one > 0 && many > 0
				})
				return s.finding(s.hi <= 5, " %")
			}, slices.Concat(streams, []string{"extrema-gpu-batch"}), nil, nil},
		{"5.3", "counting is no bottleneck beside smoothing: of the same order, 2.5 times slower at most",
			"ECC over Gaussian at most 2.5 wherever it is smoothed", func(n numbers) finding {
				s := spanOf(p.Tables[1].Rows, func(r Row) (float64, bool) { return n.ratio(2, r, "ecc", "gaussian") })
				return s.finding(s.hi <= 2.5, " times the Gaussian's time")
			}, []string{"smooth-gpu", "smooth"}, hostPipeline, nil},
		{"5.3", "512³ voxels 30 times a second, 8K images 120 times",
			"the kernel's least rate in 3D makes 30 Hz, in 2D 120 Hz at 7680×4320", func(n numbers) finding {
				two, three := rates(n, p.Tables[0].Rows)
				a, b := three.lo/(512*512*512), two.lo/(7680*4320)
				return combined(two, three, a >= 30 && b >= 120, fmt.Sprintf("%s Hz and %s Hz", quantity.Significant(a, 3),
					quantity.Significant(b, 3)))
			}, kernels, nil, nil},
		{"5.4", "the kernel's throughput does not depend on the dimension",
			"least and greatest rate of the Gaussian random fields in 2D within 25 % of those in 3D", func(n numbers) finding {
				two, three := rates(n, rows(1, func(r Row) bool { return r.Data == "Gaussian random field" }))
				least, greatest := two.lo/three.lo, two.hi/three.hi
				holds := min(least, greatest) >= 0.8 && max(least, greatest) <= 1.25
				return combined(two, three, holds, fmt.Sprintf("2D %s to %s Gvox/s, 3D %s to %s, %s and %s times",
					quantity.Giga(two.lo), quantity.Giga(two.hi), quantity.Giga(three.lo), quantity.Giga(three.hi),
					quantity.Significant(least, 3), quantity.Significant(greatest, 3)))
			}, kernels, nil, nil},
	}
}

// combined is a finding on 2D and 3D together, which needs rows of each.
func combined(two, three span, holds bool, say string) finding {
	if two.n == 0 || three.n == 0 {
		return finding{}
	}
	return finding{holds, say, two.n + three.n, two.of + three.of}
}

// rates returns the kernel's rates in rows of 2D and of 3D.
func rates(n numbers, rows []Row) (two, three span) {
	for _, r := range rows {
		s := &three
		if r.Dim() == 2 {
			s = &two
		}
		s.take(n.value(1, r, "kernel_rate"))
	}
	return two, three
}

// hostPipeline splits the lines of the pipeline on the host, which has no published column, into
// lines of its parts by column.
func hostPipeline(impl string, lines map[int][]Line) map[int][]Line {
	if impl != "smooth" {
		return lines
	}
	var list []Line
	for _, l := range lines[2] {
		if l.Impl != "smooth" || l.Parts == nil {
			continue
		}
		for _, part := range []string{"ecc", "gaussian"} {
			as := l
			as.Series.Column, as.Measured, as.Why = part, l.Parts[part], ""
			list = append(list, as)
		}
	}
	return map[int][]Line{2: slices.Clip(list)}
}
