package simplicial

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"eccbench/datasets"
	"eccbench/internal/grid"
	"eccbench/internal/name"
	"eccbench/internal/simplicial/files"
)

// A Kind is a kind of complex that a name can describe.
type Kind struct {
	Name, Doc, Example string
	keys               []key
	make               func(n Name) (*Complex, error)
	pierced            func(n Name) (piercing, error) // in place of make
}

// A key is a property in the name of a complex, with its default; "" means that it is required.
type key struct {
	name, fallback string
	least, most    int64 // limits of a whole number; 0 and 0 for words
}

// File is the kind of complexes that are read from a file.
const File = "file"

// The orders of vertices and simplices.
const (
	lexicographic = "lex"
	shuffledOrder = "random"
)

var ordered = []key{{name: "order", fallback: lexicographic}, {name: "seed", fallback: "1", least: 0, most: 1 << 62}}

var holes = []key{{name: "drills", fallback: "0", least: 0, most: 1 << 40},
	{name: "cavities", fallback: "0", least: 0, most: 1 << 40}}

// Kinds returns all kinds.
func Kinds() []Kind {
	return []Kind{
		cutGrid(Kuhn, "grid of vertices with cubes in six tetrahedra each (squares in two triangles), straight holes and "+
			"single cubes left out"),
		cutGrid(Five, "the same with cubes in five tetrahedra each, every second mirrored"),
		{
			Name: "voxels", Doc: "voxels of an image at or below a level, as cubes cut in tetrahedra (T-construction); a 2D " +
				"image is one layer", Example: "voxels/at=127/cut=kuhn/of=noise/shape=9x9x9/type=uint8/seed=1",
			keys: slices.Concat([]key{{name: "at", least: 0, most: 1 << 40}, {name: "cut", fallback: string(Kuhn)}}, ordered,
				[]key{{name: name.Of}}),
			make: voxels,
		},
		{Name: "rp2", Doc: "projective plane of six vertices", Example: "rp2", keys: ordered,
			make: func(Name) (*Complex, error) { return projectivePlane(), nil }},
		gluedGrid("torus", "grid whose sides are glued", false),
		gluedGrid("klein", "Klein bottle: the same, two of the sides turned", true),
		{
			Name: "sphere", Doc: "boundary of a simplex", Example: "sphere/dim=3",
			keys: slices.Concat([]key{{"dim", "2", 0, MaxDim - 1}}, ordered),
			make: func(n Name) (*Complex, error) { return sphere(int(n.Int("dim"))), nil },
		},
		{
			Name: "moore", Doc: "Moore space: a disc glued to a circle that it goes around n times", Example: "moore/n=6",
			keys: slices.Concat([]key{{"n", "3", 1, 1 << 16}}, ordered),
			make: func(n Name) (*Complex, error) { return moore(int(n.Int("n"))), nil },
		},
		{
			Name: "lens", Doc: "lens space L(p, q)", Example: "lens/p=5/q=2",
			keys: slices.Concat([]key{{"p", "3", 2, 64}, {"q", "1", 1, 64}}, ordered), make: lensOf,
		},
		{
			Name: "dodecahedral", Doc: "dodecahedron whose opposite faces are glued, turned by tenths of a turn: 1 the " +
				"Poincaré sphere, 3 the Seifert-Weber space, 5 projective space", Example: "dodecahedral/tenths=1",
			keys: slices.Concat([]key{{"tenths", "1", 1, 5}}, ordered), make: dodecahedralOf,
		},
		twoComplexes("join", "join of two complexes; with=KIND,KEY=VALUE… is the first", Join),
		twoComplexes("wedge", "two complexes that share a vertex; with=KIND,KEY=VALUE… is the first", Wedge),
		{
			Name: "random", Doc: "simplices with vertices drawn at random", Example: "random/vertices=12/dim=2/count=40/seed=1",
			keys: []key{{"vertices", "12", 1, 1 << 30}, {"dim", "2", 0, MaxDim}, {"count", "40", 1, mostGiven},
				{"seed", "1", 0, 1 << 62}}, make: randomOf,
		},
		standIn("blunt", "BLUNT", Five, 40, 32, 32, 512),
		standIn("post", "POST", Five, 38, 76, 38, 1000),
		standIn("bucky", "BUCKY", Five, 64, 64, 64, 4096),
		standIn("synth", "SYNTH", Kuhn, 75, 75, 75, 5832),
		{Name: File, Doc: "file: our own binary, " + strings.Join(files.Formats(), ", "), Example: "file/path=mesh.off",
			keys: []key{{name: name.Path}}, make: func(n Name) (*Complex, error) { return ReadFile(n.Get(name.Path)) }},
	}
}

func cutGrid(cut Cut, doc string) Kind {
	return Kind{
		Name: string(cut), Doc: doc, Example: string(cut) + "/shape=34x34x34/drills=0/cavities=512/order=random/seed=1",
		keys: slices.Concat([]key{{name: "shape"}}, holes, ordered),
		pierced: func(n Name) (piercing, error) {
			s, err := vertexShape(n.Get("shape"))
			return piercing{int(s.W), int(s.H), int(s.D), cut, n.Int("drills"), n.Int("cavities")}, err
		},
	}
}

func gluedGrid(name, doc string, flip bool) Kind {
	return Kind{
		Name: name, Doc: doc, Example: name + "/shape=5x4",
		keys: slices.Concat([]key{{name: "shape", fallback: "5x5"}}, ordered),
		make: func(n Name) (*Complex, error) {
			s, err := vertexShape(n.Get("shape"))
			if err == nil && (s.D > 1 || s.W < 4 || s.H < 4) {
				err = fmt.Errorf("shape %v: want WxH of at least 4x4", s)
			}
			if err != nil {
				return nil, err
			}
			return closedGrid(int(s.W), int(s.H), flip), nil
		},
	}
}

func standIn(name, data string, cut Cut, w, h, d int, cavities int64) Kind {
	return Kind{
		Name: name, Doc: fmt.Sprintf("stand-in for the unavailable %s of Murty 2013: %dx%dx%d vertices, %s cut, %d cavities",
			data, w, h, d, cut, cavities),
		Example: name + "/order=random/seed=1", keys: slices.Concat([]key{{"cavities", fmt.Sprint(cavities), 0, 1 << 40}},
			ordered),
		pierced: func(n Name) (piercing, error) { return piercing{w, h, d, cut, 0, n.Int("cavities")}, nil },
	}
}

func twoComplexes(kind, doc string, both func(a, b *Complex) (*Complex, error)) Kind {
	return Kind{
		Name: kind, Doc: doc, Example: kind + "/with=moore,n=4/of=moore/n=6",
		keys: slices.Concat([]key{{name: "with"}}, ordered, []key{{name: name.Of}}),
		make: func(n Name) (*Complex, error) {
			first, second, err := n.Parts()
			if err != nil {
				return nil, err
			}
			a, err := first.Open()
			if err != nil {
				return nil, err
			}
			b, err := second.Open()
			if err != nil {
				return nil, err
			}
			return both(a, b)
		},
	}
}

func lensOf(n Name) (*Complex, error) {
	p, q := int(n.Int("p")), int(n.Int("q"))
	for k := 2; k <= p; k++ {
		if p%k == 0 && q%k == 0 {
			return nil, fmt.Errorf("p = %d and q = %d are both multiples of %d: want numbers without a common divisor", p, q,
				k)
		}
	}
	return lens(p, q), nil
}

func dodecahedralOf(n Name) (*Complex, error) {
	if n.Int("tenths")%2 == 0 {
		return nil, fmt.Errorf("tenths=%d: want 1, 3 or 5", n.Int("tenths"))
	}
	return dodecahedral(int(n.Int("tenths"))), nil
}

func randomOf(n Name) (*Complex, error) {
	if n.Int("vertices") <= n.Int("dim") {
		return nil, fmt.Errorf("%d vertices: want more than the dimension %d", n.Int("vertices"), n.Int("dim"))
	}
	return random(int(n.Int("vertices")), int(n.Int("dim")), int(n.Int("count")), uint64(n.Int("seed"))), nil
}

// mostVertices is the greatest number of vertices of a grid.
const mostVertices = 1 << 27

// vertexShape parses the number of vertices of a grid along each axis.
func vertexShape(s string) (grid.Shape, error) {
	shape, err := grid.ParseShape(s)
	if err == nil && (shape.W < 2 || shape.H < 2) {
		err = fmt.Errorf("shape %v: want at least 2 vertices along x and y", shape)
	}
	if err == nil && shape.Voxels() > mostVertices {
		err = fmt.Errorf("shape %v: want at most %d vertices", shape, mostVertices)
	}
	return shape, err
}

// verticesOf returns the number of vertices of voxels as cubes along each axis.
func verticesOf(voxels grid.Shape) (grid.Shape, error) {
	s := grid.Shape{D: voxels.D + 1, H: voxels.H + 1, W: voxels.W + 1}
	if s.Voxels() > mostVertices {
		return s, fmt.Errorf("%v voxels: want at most %d vertices", voxels, mostVertices)
	}
	return s, nil
}

// voxels returns the complex of the voxels of an image at or below a level.
func voxels(n Name) (*Complex, error) {
	cut := Cut(n.Get("cut"))
	if cut != Kuhn && cut != Five {
		return nil, fmt.Errorf("cut=%s: want %s or %s", cut, Kuhn, Five)
	}
	src, err := datasets.Open(n.Get(name.Of))
	if err != nil {
		return nil, err
	}
	defer grid.Close(src)
	s := src.Shape()
	vertices, err := verticesOf(s)
	if err != nil {
		return nil, err
	}
	f, err := grid.Load(src)
	if err != nil {
		return nil, err
	}
	at := n.Int("at")
	if at >= f.Ladder().Len() {
		return nil, fmt.Errorf("level %d: the image has levels 0 to %d", at, f.Ladder().Len()-1)
	}
	threshold, values := f.Ladder().Value(at), f.Floats()
	return Grid(int(vertices.W), int(vertices.H), int(vertices.D), cut, func(x, y, z int) bool {
		return values[(int64(z)*s.H+int64(y))*s.W+int64(x)] <= threshold
	}), nil
}

// A Name describes a complex.
type Name struct {
	kind Kind
	name.Name
}

// ParseName parses the name of a complex: KIND/key=value/….
func ParseName(s string) (Name, error) {
	n, err := name.Parse(s)
	if err != nil {
		return Name{}, err
	}
	kinds := Kinds()
	at := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == n.Kind })
	if at < 0 {
		return Name{}, fmt.Errorf("input %q: no complex of the kind %s; eccbench list --workload homology names them", s,
			name.Quoted(n.Kind))
	}
	out := Name{kinds[at], name.Name{Kind: n.Kind}}
	for _, k := range out.kind.keys {
		v := k.fallback
		if given, ok := n.Get(k.name); ok {
			v = given
		}
		if v == "" {
			return Name{}, fmt.Errorf("input %q: %s is missing, such as %s", s, k.name, out.kind.Example)
		}
		if k.most > 0 {
			i, err := strconv.ParseInt(v, 10, 64)
			if err != nil || i < k.least || i > k.most {
				return Name{}, fmt.Errorf("input %q: %s=%s: want %d to %d", s, k.name, name.Quoted(v), k.least, k.most)
			}
			v = strconv.FormatInt(i, 10)
		}
		out.Name = out.With(k.name, v)
	}
	for _, p := range n.Pairs {
		if !slices.ContainsFunc(out.kind.keys, func(k key) bool { return k.name == p.Key }) {
			return Name{}, fmt.Errorf("input %q: a complex of the kind %s has no %s", s, n.Kind, name.Quoted(p.Key))
		}
	}
	if order := out.Get("order"); order != "" && order != lexicographic && order != shuffledOrder {
		return Name{}, fmt.Errorf("input %q: order=%s: want %s or %s", s, name.Quoted(order), lexicographic, shuffledOrder)
	} else if order == lexicographic { // it has no effect, and needs no seed
		out = out.Change("order", "").Change("seed", "")
	}
	return out, nil
}

// Get returns the value of a key, "" for one that the kind does not have.
func (n Name) Get(key string) string {
	v, _ := n.Name.Get(key)
	return v
}

// Int returns the value of a key that is a whole number.
func (n Name) Int(key string) int64 {
	v, err := strconv.ParseInt(n.Get(key), 10, 64)
	if err != nil {
		panic(err) // cannot happen: ParseName checked it
	}
	return v
}

// Change returns the name with another value of a key.
func (n Name) Change(key, value string) Name {
	n.Name = n.With(key, value)
	return n
}

// Parts returns the names of the two parts of a join or a wedge.
func (n Name) Parts() (first, second Name, err error) {
	if first, err = ParseName(strings.ReplaceAll(n.Get("with"), ",", "/")); err != nil {
		return first, second, err
	}
	second, err = ParseName(n.Get(name.Of))
	return first, second, err
}

// Open makes or reads the complex, and checks it.
func (n Name) Open() (*Complex, error) {
	c, err := n.make()
	if err != nil {
		if n.Kind == File {
			return nil, err
		}
		return nil, fmt.Errorf("input %q: %w", n, err)
	}
	if n.Get("order") == shuffledOrder {
		c = Shuffled(c, uint64(n.Int("seed")))
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("input %q: %w", n, err)
	}
	return c, nil
}

func (n Name) make() (*Complex, error) {
	if n.kind.pierced == nil {
		return n.kind.make(n)
	}
	p, err := n.pierced()
	if err != nil {
		return nil, err
	}
	return p.complex(), nil
}

func (n Name) pierced() (piercing, error) {
	p, err := n.kind.pierced(n)
	if err != nil {
		return p, err
	}
	return p, p.check()
}

// Sketch returns a complex of the size of Open's, without its simplices, for estimates. It is nil
// if the size depends on them.
func (n Name) Sketch() *Complex {
	if n.kind.pierced == nil {
		return nil
	}
	p, err := n.pierced()
	if err != nil {
		return nil
	}
	return p.sketch()
}

// Files returns the files that the complex is read from.
func (n Name) Files() []string {
	if n.Kind == File {
		return append([]string{n.Get(name.Path)}, companionFiles(n.Get(name.Path))...)
	}
	if n.Kind == "voxels" {
		return datasets.Files(n.Get(name.Of))
	}
	return nil
}

// Shown returns the name of the complex in reports: its name, or that of its file.
func (n Name) Shown() string {
	if n.Kind == File {
		return filepath.Base(n.Get(name.Path))
	}
	return n.String()
}

// Variants returns up to k names of complexes of about the same size, this one first. The others
// have another shuffle, or fewer holes.
func (n Name) Variants(k int) []Name {
	list := []Name{n}
	random := n.Get("order") == shuffledOrder || n.Kind == "random"
	for i := int64(1); i < int64(k); i++ {
		v := n
		if random {
			v = v.Change("seed", fmt.Sprint(n.Int("seed")+i))
		}
		for _, holes := range []string{"cavities", "drills"} {
			if have := n.Get(holes); have != "" && n.Int(holes) >= i {
				v = v.Change(holes, fmt.Sprint(n.Int(holes)-i))
				break
			}
		}
		if v.String() == n.String() {
			break
		}
		list = append(list, v)
	}
	return list
}

// Smaller returns names of smaller complexes of the same kind, the smallest first.
func (n Name) Smaller() (list []Name) {
	if s, err := grid.ParseShape(n.Get("shape")); err == nil {
		for _, cut := range []func(int64) int64{func(v int64) int64 { return (v + 1) / 2 },
			func(v int64) int64 { return v - 1 }} {
			t := grid.Shape{D: max(1, min(s.D, max(2, cut(s.D)))), H: cut(s.H), W: cut(s.W)}
			v := n.Change("shape", t.String())
			for _, holes := range []string{"cavities", "drills"} {
				if have := n.Get(holes); have != "" {
					v = v.Change(holes, fmt.Sprint(n.Int(holes)/8))
				}
			}
			if _, err := v.Open(); err == nil {
				list = append(list, v)
			}
		}
	}
	if n.Kind == "random" {
		for _, count := range []int64{n.Int("count") / 2, n.Int("count") - 1} {
			if count > 0 {
				list = append(list, n.Change("count", fmt.Sprint(count)))
			}
		}
	}
	return list
}

// Named returns the canonical name of a complex from a name or the path of a file.
func Named(s string) (Name, error) {
	kind := name.KindOf(s)
	if slices.ContainsFunc(Kinds(), func(k Kind) bool { return k.Name == kind || k.Name == s && s != File }) {
		return ParseName(s)
	}
	return ParseName(File + "/path=" + s)
}
