package paper

// murty2013 are what Murty 2013 says, section by section. What it says of figures whose values it
// does not print is put to the numbers here alone.
func murty2013(p Paper) []Claim {
	const race = "race" // its algorithm on a device
	// line is an implementation's on a row of a table, with a number.
	line := func(n numbers, table int, r Row, impl string) (Line, bool) {
		for _, l := range n.of[table] {
			if l.Impl == impl && l.Row.Label == r.Label && l.Measured > 0 && l.Mark == "" {
				return l, true
			}
		}
		return Line{}, false
	}
	each := func(n numbers, value func(l Line, table int, r Row) (float64, bool)) (s span) {
		for _, t := range p.Tables {
			for _, r := range t.Rows {
				s.of++
				if l, ok := line(n, t.N, r, n.impl); ok {
					if v, ok := value(l, t.N, r); ok {
						s.add(v)
					}
				}
			}
		}
		return s
	}
	// Table 1 and table 2 have the same published numbers.
	published := func(n numbers, value func(r Row) float64) (s span) {
		for _, r := range p.Tables[0].Rows {
			if s.of++; n.impl == "" {
				s.add(value(r))
			}
		}
		return s
	}
	printed := func(r Row, key string) float64 {
		v, _ := p.Tables[0].Value(r, key)
		return v.V
	}
	faster := func(n numbers, part func(Line) float64) span {
		return each(n, func(l Line, table int, r Row) (float64, bool) {
			one, ok := line(n, table, r, "reductions")
			return part(one) / part(l), ok && part(l) > 0
		})
	}
	whole := func(l Line) float64 { return l.Measured }
	reducing := func(l Line) float64 { return l.Parts["reductions"] + l.Parts["reductions of parts"] }
	building := func(l Line) float64 { return l.Parts["faces"] + l.Parts["reducible complex"] }
	none := func(numbers) finding { return span{of: len(p.Tables[0].Rows)}.finding(true, "") }
	return []Claim{
		{"6.1", "the construction of the reducible complex takes longest, then the reductions", "one core: faces and lists take more than the reductions", func(n numbers) finding {
			s := each(n, func(l Line, _ int, _ Row) (float64, bool) { return building(l) / reducing(l), reducing(l) > 0 })
			return s.finding(s.lo > 1, " times as long")
		}, []string{"reductions"}, nil, nil},
		{"6.1", "the reduction step is up to 10.7 times as fast with 16 threads on 8 cores", "reductions of one core over those in a part for each of the run's threads, somewhere 10.7", func(n numbers) finding {
			s := faster(n, reducing)
			return s.finding(s.hi >= 10.7, " times")
		}, []string{"partitions"}, nil, nil},
		{"abstract, 6.1", "all of it is up to 4.9 times as fast with 16 threads on 8 cores, 7.2 with 32 cores", "one core over a part for each of the run's threads, somewhere 4.9", func(n numbers) finding {
			s := faster(n, whole)
			return s.finding(s.hi >= 4.9, " times")
		}, []string{"partitions"}, nil, nil},
		{"6.1", "the construction of the reducible complex is up to 8.76 times as fast with 16 threads", "none: parts here are cut from one complex", none, []string{race}, nil, nil},
		{"6.2", "times vary over different runs of one data set, because the algorithm draws random numbers", "the longest over the shortest of 20 runs more than 1", func(n numbers) finding {
			s := published(n, func(r Row) float64 { return printed(r, "max") / printed(r, "min") })
			return s.finding(s.lo > 1, "")
		}, []string{race}, nil, nil},
		{"6.2", "the average is between the shortest and the longest", "the average over the shortest, and the longest over the average, at least 1", func(n numbers) finding {
			s := published(n, func(r Row) float64 {
				return min(printed(r, "avg")/printed(r, "min"), printed(r, "max")/printed(r, "avg"))
			})
			return s.finding(s.lo >= 1, "")
		}, []string{race}, nil, nil},
		{"6.2", "40 times as fast as its sequential reductions for SYNTH and POST", "none: no sequential time is printed", none, []string{race}, nil, nil},
		{"6.2", "up to 4.5 times as fast as REDHOM with all its engines", "none: no time of REDHOM is printed", none, []string{race}, nil, nil},
		{"6.2", "less time than REDHOM takes to construct the simplicial complex alone, in all cases", "none: no time of REDHOM is printed", none, []string{race}, nil, nil},
	}
}
