package views_test

import (
	"testing"

	"eccbench/internal/checktest"
)

func TestChecks(t *testing.T) {
	checktest.Run(t, []checktest.Check{
		{Name: "views of an image", Of: viewsOfImages},
		{Name: "views of what cannot be read", Of: unreadViews},
		{Name: "sources that are closed", Of: closes},
		{Name: "relabelled images", Of: relabelKeepsTheOrder},
		{Name: "images closed to rings", Of: wrapAndFirst},
		{Name: "negated images", Of: negate},
		{Name: "images padded with no value", Of: padOfNoValue},
		{Name: "padded images", Of: pad},
		{Name: "masked images", Of: mask},
		{Name: "sums over periods", Of: overPeriods},
		{Name: "images on a table", Of: onTable},
		{Name: "images on a ladder", Of: onLadder},
		{Name: "views of every type", Of: viewsOfTypes},
		{Name: "rows that change places", Of: turnsRows},
		{Name: "bounds of views", Of: boundsOfViews},
	}...)
}
