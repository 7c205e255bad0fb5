package files_test

import (
	"eccbench/datasets"
	"eccbench/datasets/files"
)

func init() {
	n := &files.Named
	n.Open, n.OpenWith = datasets.Open, datasets.OpenWith
	n.Variants, n.VariantsWith = datasets.Variants, datasets.VariantsWith
	n.Canonical, n.Files, n.StoredFile = datasets.Canonical, datasets.Files, datasets.StoredFile
}
