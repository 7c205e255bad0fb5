package grid_test

import (
	"testing"

	"eccbench/internal/checktest"
)

func TestChecks(t *testing.T) { checktest.Run(t, checks()...) }

// checks cover the steps between a source and the count: slabs, pieces and levels.
func checks() []checktest.Check {
	return []checktest.Check{
		{Name: "axes", Of: axes},
		{Name: "images that repeat themselves", Of: repeat},
		{Name: "images not seen to repeat themselves", Of: unrepeated},
		{Name: "ranges of values", Of: ranges},
		{Name: "ranges of words of values", Of: rangesOfWords},
		{Name: "pieces", Of: eachPiece},
		{Name: "pieces of spans", Of: eachPieceOfSpans},
		{Name: "pieces that are left", Of: piecesAreLeft},
		{Name: "sizes of pieces", Of: piecesAreLarge},
		{Name: "sizes of joined pieces", Of: joinedPiecesAreSmall},
		{Name: "slabs", Of: eachSlab},
		{Name: "slabs that share a slice", Of: eachSharing},
		{Name: "slabs of an image in memory", Of: eachSlabOfAField},
		{Name: "bounds of slabs", Of: checkSlab},
		{Name: "levels", Of: levelIsTheLowest},
		{Name: "levels of tables", Of: func(t *testing.T) { levelsOfTables(t, 20_000, 2, 3000, 70_000) }},
		{Name: "ladders in words", Of: parseLadder},
		{Name: "ladders of levels that are one", Of: levelsThatAreTheSame},
		{Name: "hashes of slices", Of: digester},
		{Name: "every float32 a level", Of: everyFloat32},
		{Name: "shapes", Of: parseShape},
		{Name: "types", Of: types},
		{Name: "levels of bit patterns", Of: ofPatterns},
		{Name: "what is no ladder", Of: ladderRefuses},
		{Name: "levels in float32", Of: inFloat32},
		{Name: "keys of ladders", Of: ladderKeys},
		{Name: "images in memory", Of: newField},
		{Name: "hashes", Of: digest},
		{Name: "sums of words", Of: sumsOfWords},
		{Name: "memory of slabs that share a slice", Of: sharingBytes},
		{Name: "bytes in memory", Of: trusted},
		{Name: "batches", Of: batches},
		{Name: "slabs that are read in parts", Of: partsOfSlabs},
		{Name: "values of bytes", Of: valuesRefuses},
		{Name: "labels", Of: labels},
		{Name: "gaps, and values above the last level", Of: gapsAndTops},
		{Name: "pieces that fail", Of: piecesThatFail},
		{Name: "what sources say of themselves", Of: whatSourcesSay},
		{Name: "encoded ladders", Of: encodedLadders},
	}
}
