// Package raster reads PNG, BMP and TIFF files, whose pixels are decoded whole. It knows no other format.
package raster

import "eccbench/datasets/files/format"

// Formats returns the formats of this package.
func Formats() []format.Format {
	return []format.Format{
		{Name: "PNG", Extensions: []string{".png"}, Matches: format.StartsWith(pngMagic), Open: openPng},
		{Name: "BMP", Extensions: []string{".bmp"}, Matches: matchesBmp, Open: openBmp},
		{Name: "TIFF", Extensions: []string{".tif", ".tiff"},
			Matches: format.StartsWith("II*\x00", "MM\x00*", "II+\x00", "MM\x00+"), Open: openTiff},
	}
}
