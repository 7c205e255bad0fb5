package datasets

import (
	"fmt"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/race"
)

// A topology is the known topology of a solid: its Euler characteristic, its number of pieces, and
// the number of pieces of the rest of space.
type topology struct{ chi, pieces, rest int64 }

func checkTopology(t *testing.T, name string, want topology) {
	t.Helper()
	s := openNamed(t, name)
	if s.Ladder().Len() != 2 || s.Ladder().Value(0) != 0 || s.Ladder().Value(1) != 1 {
		t.Fatalf("%s: ladder %v, want 0 and 1", name, s.Ladder())
	}
	curve := eulerCurve(t, s)
	inside, outside := pieces(t, s)
	if got := (topology{curve[0], inside, outside}); got != want {
		t.Errorf("%s: %+v, want %+v", name, got, want)
	}
	if curve[1] != 1 {
		t.Errorf("%s: χ of the whole image is %d", name, curve[1])
	}
}

// pieces counts components. Voxels on level 0 touch at faces, edges and corners. All other voxels,
// and the space around the image, touch at faces.
func pieces(t *testing.T, s grid.Source) (inside, outside int64) {
	levels := imageLevels(t, s)
	shape := s.Shape()
	// A frame of space around the image connects the parts that its faces cut; in 2D the frame is in
	// the plane.
	frame := int64(1)
	if shape.Dim() == 2 {
		frame = 0
	}
	d, h, w := shape.D+2*frame, shape.H+2, shape.W+2
	in := func(i int64) bool {
		z, y, x := i/(h*w)-frame, i%(h*w)/w-1, i%w-1
		return z >= 0 && z < shape.D && y >= 0 && y < shape.H && x >= 0 && x < shape.W &&
			levels[(z*shape.H+y)*shape.W+x] == 0
	}
	seen := make([]bool, d*h*w)
	for start := range seen {
		if seen[start] {
			continue
		}
		solid := in(int64(start))
		if solid {
			inside++
		} else {
			outside++
		}
		seen[start] = true
		for stack := []int64{int64(start)}; len(stack) > 0; {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			z, y, x := i/(h*w), i%(h*w)/w, i%w
			for n := range int64(27) {
				dz, dy, dx := n/9-1, n/3%3-1, n%3-1
				if !solid && dz*dz+dy*dy+dx*dx > 1 {
					continue
				}
				nz, ny, nx := z+dz, y+dy, x+dx
				if nz < 0 || nz >= d || ny < 0 || ny >= h || nx < 0 || nx >= w {
					continue
				}
				if j := (nz*h+ny)*w + nx; !seen[j] && in(j) == solid {
					seen[j] = true
					stack = append(stack, j)
				}
			}
		}
	}
	return inside, outside
}

// parities calls f with shapes of at least the given size, with every axis even
// and odd.
func parities(w, h, d int64, f func(s grid.Shape)) {
	for i := range int64(8) {
		f(grid.Shape{D: d + i&1, H: h + i>>1&1, W: w + i>>2})
	}
}

func largest(n int64) int64 {
	if race.Enabled || testing.Short() {
		return n/2 + 1
	}
	return n
}

func TestBall(t *testing.T) {
	for radius := int64(1); radius <= largest(9); radius++ {
		m := max(3, 2*radius)
		parities(m, m, m, func(s grid.Shape) {
			checkTopology(t, fmt.Sprintf("ball/shape=%v/type=uint8/radius=%d", s, radius), topology{1, 1, 1})
			s.D = 1
			checkTopology(t, fmt.Sprintf("ball/shape=%v/type=uint8/radius=%d", s, radius), topology{1, 1, 1})
		})
	}
	for m := 3; m < 20; m++ {
		checkTopology(t, fmt.Sprintf("ball/shape=%dx%dx%d", m, m+1, m+2), topology{1, 1, 1})
	}
	checkTopology(t, "ball/shape=64x64x64/type=int16/radius=20", topology{1, 1, 1})
}

func TestBallVoxels(t *testing.T) {
	for _, c := range []struct {
		name string
		want int
	}{
		{"ball/shape=3x3/radius=1", 5}, {"ball/shape=3x3x3/radius=1", 7}, {"ball/shape=4x4x4/radius=1", 8},
		{"ball/shape=5x5/radius=2", 13}, {"ball/shape=4x4/radius=2", 12}, {"ball/shape=101x7/radius=2", 13},
	} {
		n := 0
		for _, k := range imageLevels(t, openNamed(t, c.name)) {
			n += int(1 - k)
		}
		if n != c.want {
			t.Errorf("%s: %d voxels, want %d", c.name, n, c.want)
		}
	}
	// Squares of the longest axes must not overflow into the ball.
	in := ball(grid.Shape{D: 1, H: maxAxis / 8, W: maxAxis}, 20)
	if in(0, 0, 0) || !in(maxAxis/2, maxAxis/16, 0) {
		t.Error("ball on a long axis is not at its middle")
	}
}

func TestShell(t *testing.T) {
	for radius := int64(3); radius <= largest(9); radius++ {
		for thickness := int64(2); thickness < radius; thickness++ {
			parities(2*radius, 2*radius, 2*radius, func(s grid.Shape) {
				params := fmt.Sprintf("/type=uint8/radius=%d/thickness=%d", radius, thickness)
				checkTopology(t, "shell/shape="+s.String()+params, topology{2, 1, 2})
				s.D = 1
				checkTopology(t, "shell/shape="+s.String()+params, topology{0, 1, 2})
			})
		}
	}
	checkTopology(t, "shell/shape=8x8x8", topology{2, 1, 2})
	checkTopology(t, "shell/shape=33x40x35", topology{2, 1, 2})
}

func TestTorus(t *testing.T) {
	for tube := int64(2); tube <= largest(4); tube++ {
		for radius := tube + 2; radius <= tube+4; radius++ {
			reach := 2 * (radius + tube)
			parities(reach, reach, 2*tube, func(s grid.Shape) {
				checkTopology(t, fmt.Sprintf("torus/shape=%v/type=uint8/tube=%d/radius=%d", s, tube, radius), topology{0, 1, 1})
			})
		}
	}
	for _, shape := range []string{"12x12x4", "13x12x5", "16x16x16", "30x41x20", "40x40x40"} {
		checkTopology(t, "torus/shape="+shape, topology{0, 1, 1})
	}
}

func TestLinks(t *testing.T) {
	for tube := int64(1); tube <= largest(3); tube++ {
		for radius := 2*tube + 2; radius <= 2*tube+largest(4); radius++ {
			w, h := 3*radius+2*tube, 2*(radius+tube)
			parities(w, h, h, func(s grid.Shape) {
				checkTopology(t, fmt.Sprintf("links/shape=%v/type=uint8/tube=%d/radius=%d", s, tube, radius), topology{0, 2, 1})
			})
		}
	}
	for _, shape := range []string{"14x10x10", "22x22x22", "25x16x19", "40x40x40"} {
		checkTopology(t, "links/shape="+shape, topology{0, 2, 1})
	}
}

func TestPatterns(t *testing.T) {
	up := func(n int64) int64 { return (n + 1) / 2 }
	for _, s := range []grid.Shape{
		{D: 1, H: 1, W: 1}, {D: 1, H: 1, W: 6}, {D: 1, H: 5, W: 1}, {D: 1, H: 4, W: 7}, {D: 1, H: 5, W: 5},
		{D: 2, H: 1, W: 1}, {D: 3, H: 4, W: 5}, {D: 4, H: 4, W: 4}, {D: 5, H: 5, W: 5}, {D: 7, H: 2, W: 3},
	} {
		if got := eulerCurve(t, openNamed(t, fmt.Sprintf("constant/shape=%v", s))); len(got) != 1 || got[0] != 1 {
			t.Errorf("constant %v: %v", s, got)
		}
		if got := eulerCurve(t, openNamed(t, fmt.Sprintf("point/shape=%v", s)))[0]; got != 1 {
			t.Errorf("point %v: %d", s, got)
		}
		if got, want := eulerCurve(t, openNamed(t, fmt.Sprintf("dots/shape=%v", s)))[0], up(s.W)*up(s.H)*up(s.D); got != want {
			t.Errorf("dots %v: %d, want %d", s, got, want)
		}
		if got, want := eulerCurve(t, openNamed(t, fmt.Sprintf("checkerboard/shape=%v", s)))[0], checkerboardEuler(s); got != want {
			t.Errorf("checkerboard %v: %d, want %d", s, got, want)
		}
	}
}

// checkerboardEuler counts the cells of a checkerboard. A wall or smaller cell that two neighbours
// along an axis share is in the solid. A cell of only one voxel is in the solid if the voxel is.
// Cells are products of an interior or a wall per axis.
func checkerboardEuler(s grid.Shape) int64 {
	axes := []int64{s.W, s.H, s.D}[:s.Dim()]
	half := func(n int64) int64 { return (n + 1) / 2 } // voxels of even sum among n
	var chi int64
	for kinds := range 1 << len(axes) {
		// An inner wall on any axis makes a cell of two neighbours. Without one, the cell belongs to one
		// voxel: interiors, and outer walls at the ends.
		sign, all, single := int64(1), int64(1), [][]int64{{}}
		for i, n := range axes {
			var next [][]int64
			at := []int64{0, n - 1}
			if kinds>>i&1 == 1 {
				sign, all = -sign, all*n
				at = make([]int64, n)
				for k := range at {
					at[k] = int64(k)
				}
			} else {
				all *= n + 1
			}
			for _, s := range single {
				for _, x := range at {
					next = append(next, append(append([]int64{}, s...), x))
				}
			}
			single = next
		}
		in := int64(0)
		for _, voxel := range single {
			sum := int64(0)
			for _, x := range voxel {
				sum += x
			}
			in += 1 - sum&1
		}
		chi += sign * (all - int64(len(single)) + in)
		if kinds == 1<<len(axes)-1 && in != half(s.Voxels()) {
			panic("wrong number of solid voxels")
		}
	}
	return chi
}

func TestPointIsInTheMiddle(t *testing.T) {
	levels := imageLevels(t, openNamed(t, "point/shape=6x5x3"))
	for i, k := range levels {
		if want := i == (1*5+2)*6+3; want != (k == 0) {
			t.Errorf("voxel %d is on level %d", i, k)
		}
	}
}
