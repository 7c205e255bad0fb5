package cli

import (
	"fmt"
	"strconv"
	"strings"

	"eccbench/internal/grid"
)

// maxSide is the largest side that a sweep accepts.
const maxSide = 1 << 20

// parseSizes parses a list of sizes separated by commas: "n" (a square or cube), "a..b" (doubling),
// "a..b*k", "a..b+s", "WxH" and "WxHxD", ends included. dim is 2 or 3, or 0 if the user gave none;
// then n is a cube.
func parseSizes(list string, dim int) ([]grid.Shape, error) {
	var shapes []grid.Shape
	for _, item := range strings.Split(list, ",") {
		some, err := parseSize(strings.TrimSpace(item), dim)
		if err != nil {
			return nil, fmt.Errorf("--sizes %s: %w", list, err)
		}
		for _, s := range some {
			if err := s.Check(); err != nil {
				return nil, fmt.Errorf("--sizes %s: %w", list, err)
			}
		}
		shapes = append(shapes, some...)
	}
	return shapes, nil
}

func parseSize(item string, dim int) ([]grid.Shape, error) {
	if strings.Contains(item, "x") {
		s, err := grid.ParseShape(item)
		if err != nil {
			return nil, err
		}
		if dim != 0 && s.Dim() != dim {
			return nil, fmt.Errorf("%s is %dD, but --dim is %d", item, s.Dim(), dim)
		}
		return []grid.Shape{s}, nil
	}
	from, rest, isRange := strings.Cut(item, "..")
	a, err := side(from)
	if err != nil {
		return nil, err
	}
	if !isRange {
		return []grid.Shape{square(a, dim)}, nil
	}
	next := func(n int64) int64 { return 2 * n }
	to := rest
	if last, factor, ok := strings.Cut(rest, "*"); ok {
		k, err := strconv.ParseInt(factor, 10, 64)
		if err != nil || k < 2 || k > maxSide {
			return nil, fmt.Errorf("%q: the factor after * must be a whole number of at least 2", item)
		}
		to, next = last, func(n int64) int64 { return k * n }
	} else if last, step, ok := strings.Cut(rest, "+"); ok {
		s, err := strconv.ParseInt(step, 10, 64)
		if err != nil || s < 1 || s > maxSide {
			return nil, fmt.Errorf("%q: the step after + must be a whole number of at least 1", item)
		}
		to, next = last, func(n int64) int64 { return n + s }
	}
	b, err := side(to)
	if err != nil {
		return nil, err
	}
	if b < a {
		return nil, fmt.Errorf("%q: the range ends before it begins", item)
	}
	var shapes []grid.Shape
	for n := a; n <= b; n = next(n) {
		shapes = append(shapes, square(n, dim))
	}
	return shapes, nil
}

func side(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a size: want n, a..b, a..b*k, a..b+s, WxH or WxHxD", s)
	}
	if n < 1 || n > maxSide {
		return 0, fmt.Errorf("a size must be 1 to %d, not %d", maxSide, n)
	}
	return n, nil
}

func square(n int64, dim int) grid.Shape {
	if dim == 2 {
		return grid.Shape{D: 1, H: n, W: n}
	}
	return grid.Shape{D: n, H: n, W: n}
}
