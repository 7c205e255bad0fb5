package files

import (
	"eccbench/datasets/files/format"
	"eccbench/internal/grid"
)

// Named are functions of package datasets, which imports this one. A test in another package sets
// them.
var Named struct {
	Open         func(name string) (grid.Source, error)
	OpenWith     func(s *format.Surveys, name string) (grid.Source, error)
	Variants     func(name string, n int) ([]string, error)
	VariantsWith func(s *format.Surveys, name string, n int) ([]string, error)
	Canonical    func(name string) (string, error)
	Files        func(name string) []string
	StoredFile   func(name string) string
}
