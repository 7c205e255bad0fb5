// Command meshes prints what the readers of meshes find, for scripts/differential/mesh.py.
//
// For each path on standard input it prints a line: "!" and an error, or the maximal simplices as
// sorted points of rounded coordinates.
package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"eccbench/internal/simplicial"
)

func main() {
	in, out := bufio.NewScanner(os.Stdin), bufio.NewWriter(os.Stdout)
	for in.Scan() {
		c, err := simplicial.ReadFile(in.Text())
		if err != nil {
			fmt.Fprintf(out, "!%v\n", err)
		} else {
			fmt.Fprintln(out, strings.Join(simplices(c), ";"))
		}
		out.Flush() // an error shows as the end of the answers
	}
}

// simplices are the maximal simplices, by coordinates in units of 1e-4.
func simplices(c *simplicial.Complex) (list []string) {
	for d, tops := range c.Tops {
		for at := 0; at < len(tops); at += d + 1 {
			var points []string
			for _, v := range tops[at : at+d+1] {
				p := c.Points[3*v : 3*v+3]
				points = append(points, fmt.Sprintf("%.0f %.0f %.0f", round(p[0]), round(p[1]), round(p[2])))
			}
			slices.Sort(points)
			list = append(list, strings.Join(points, ","))
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// round has no negative zero.
func round(x float64) float64 { return math.Round(x*1e4) + 0 }
