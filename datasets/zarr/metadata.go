package zarr

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"eccbench/datasets/element"
	"eccbench/datasets/storage"
	"eccbench/internal/decimal"
	"eccbench/internal/name"
)

// A Node holds the metadata of an array or a group.
type Node struct {
	at          string // in the hierarchy, "" for its root
	Array       *Array
	dimensions  []string                   // the names of an array's axes, if known
	conventions map[string]json.RawMessage // attributes by name, for those of netCDF's CF conventions
	fill        json.RawMessage            // of version 2; nil for null
	attributes  struct {
		Multiscales []multiscale `json:"multiscales"` // OME-NGFF up to 0.4
		Omero       omero        `json:"omero"`
		Layout      int          `json:"bioformats2raw.layout"`
		Dimensions  []string     `json:"_ARRAY_DIMENSIONS"` // of xarray
		OME         struct {     // 0.5
			Multiscales []multiscale `json:"multiscales"`
			Omero       omero        `json:"omero"`
			Layout      int          `json:"bioformats2raw.layout"`
		} `json:"ome"`
	}
}

// A multiscale is one image at several resolutions, the finest first.
type multiscale struct {
	Axes     []Axis `json:"axes"`
	Datasets []struct {
		Path string `json:"path"`
	} `json:"datasets"`
}

// An Axis of OME-NGFF has a name and a type; before 0.4 it had only a name.
type Axis struct{ Name, Type string }

// UnmarshalJSON reads an object or a name.
func (a *Axis) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &a.Name)
	}
	type plain Axis
	return json.Unmarshal(data, (*plain)(a))
}

type omero struct {
	Channels []struct {
		Label string `json:"label"`
	} `json:"channels"`
}

// Find returns the selected array.
func Find(s Store, name string) (*Node, error) {
	node, err := readNode(s, "")
	if err != nil {
		return nil, err
	}
	root := node
	if name != "" {
		if node.Array != nil {
			return nil, errors.New("it is an array, and no group of some; leave array out")
		}
		if !fs.ValidPath(name) {
			return nil, fmt.Errorf("there is no array %.80q; want a path within the group, such as 0 or labels/cells/0", name)
		}
		if node, err = readNode(s, name); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("there is no array %.80q; want one of %s", name, root.choices(s))
		} else if err != nil {
			return nil, err
		}
		if group := path.Dir(name); node.Array != nil && group != "." {
			if root, err = readNode(s, group); err != nil { // nothing is known of the group then
				root = &Node{}
			}
		}
	}
	for range 3 { // series, image, level
		if node.Array != nil {
			node.inherit(root)
			return node, nil
		}
		child := ""
		switch scales := node.multiscales(); {
		case len(scales) > 0 && len(scales[0].Datasets) > 0:
			child = scales[0].Datasets[0].Path
		case node.attributes.Layout == 3 || node.attributes.OME.Layout == 3:
			child = "0"
		default:
			list := s.List(node.at)
			if len(list) != 1 {
				return nil, node.undecided(s)
			}
			child = list[0]
		}
		if !fs.ValidPath(child) {
			return nil, fmt.Errorf("its metadata name %.80q, which is no path within the group", child)
		}
		parent := node
		if node, err = readNode(s, path.Join(parent.at, child)); err != nil {
			return nil, err
		}
		if len(parent.multiscales()) > 0 {
			root = parent
		}
	}
	return nil, node.undecided(s)
}

// undecided returns the error of a group of several arrays.
func (n *Node) undecided(s Store) error {
	return fmt.Errorf("a Zarr group and no image by itself; choose an array: --array of the command, or the input "+
		"file/array=NAME/path=FILE: %s", n.choices(s))
}

// inherit copies the attributes of an image from its group.
func (n *Node) inherit(from *Node) {
	if len(from.multiscales()) > 0 {
		n.attributes = from.attributes
	}
}

func (n *Node) multiscales() []multiscale {
	if m := n.attributes.OME.Multiscales; len(m) > 0 {
		return m
	}
	return n.attributes.Multiscales
}

// choices lists the known arrays of a group.
func (n *Node) choices(s Store) string {
	var names []string
	for _, m := range n.multiscales() {
		for _, d := range m.Datasets {
			names = append(names, d.Path)
		}
	}
	for _, name := range s.List(n.at) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "the path of one of its arrays"
	}
	return name.List(names)
}

// Axes returns the names of an array's axes and their types, if the metadata have them.
func (n *Node) Axes() []Axis {
	if m := n.multiscales(); len(m) > 0 && len(m[0].Axes) == len(n.Array.Shape) {
		return m[0].Axes
	}
	names := n.dimensions
	if len(names) == 0 {
		names = n.attributes.Dimensions
	}
	if len(names) != len(n.Array.Shape) {
		return nil
	}
	var axes []Axis
	for _, name := range names {
		axes = append(axes, Axis{Name: name})
	}
	return axes
}

// ChannelNames returns the names of an OME-NGFF image's channels.
func (n *Node) ChannelNames() (names []string) {
	list := n.attributes.OME.Omero.Channels
	if len(list) == 0 {
		list = n.attributes.Omero.Channels
	}
	for _, c := range list {
		names = append(names, c.Label)
	}
	return names
}

// readNode reads the metadata of an array or a group. Missing metadata are a fs.ErrNotExist. Metadata
// that a server denies count as missing if others exist: servers that list nothing deny missing objects.
func readNode(s Store, at string) (*Node, error) {
	n := &Node{at: at}
	var denied []string
	var denial error // the first
	read := func(name string, parse func(text []byte) error) (found bool, err error) {
		name = path.Join(at, name)
		text, _, err := s.Whole(name, mostMetadata, nil)
		switch {
		case errors.Is(err, storage.ErrForbidden):
			denied, denial = append(denied, name), cmp.Or(denial, err)
			return false, nil
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err == nil:
			err = parse(text)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", name, storage.Cause(err))
		}
		return true, err
	}
	found, err := read("zarr.json", func(text []byte) error { return n.version3(s, text) })
	if found {
		return n, err
	}
	if found, err = read(".zarray", func(text []byte) error { return n.version2(s, text) }); !found {
		found, err = read(".zgroup", func([]byte) error { return nil })
	}
	unlisted := len(denied) > 0 // a missing .zattrs is denied, too
	if found && err == nil {
		_, err = read(".zattrs", func(text []byte) error {
			return cmp.Or(json.Unmarshal(text, &n.attributes), json.Unmarshal(text, &n.conventions))
		})
	}
	switch {
	case err == nil && len(denied) > 0 && !(found && unlisted):
		err = fmt.Errorf("%s: %w; check the path and the credentials", strings.Join(denied, ", "), denial)
	case err == nil && !found:
		err = notZarr{at}
	}
	return n, err
}

// notZarr is the error of a folder that is neither an array nor a group.
type notZarr struct{ at string }

func (e notZarr) Error() string {
	in := "it"
	if e.at != "" {
		in = strconv.Quote(e.at)
	}
	return fmt.Sprintf("no Zarr array or group: %s has no zarr.json, .zarray or .zgroup; check the path", in)
}

func (notZarr) Is(err error) bool { return err == fs.ErrNotExist }

// version3 is the contents of zarr.json.
type version3 struct {
	Format     int             `json:"zarr_format"`
	Node       string          `json:"node_type"`
	Shape      []int64         `json:"shape"`
	Type       json.RawMessage `json:"data_type"`
	Grid       named           `json:"chunk_grid"`
	Keys       named           `json:"chunk_key_encoding"`
	Fill       json.RawMessage `json:"fill_value"`
	Codecs     []named         `json:"codecs"`
	Names      []*string       `json:"dimension_names"`
	Attributes json.RawMessage `json:"attributes"`
	Storage    []any           `json:"storage_transformers"`
}

// version2Fields are the fields of an array's .zarray, and version3Fields the fields of its
// zarr.json.
var version2Fields = []string{"zarr_format", "shape", "chunks", "dtype", "compressor", "fill_value", "order", "filters",
	"dimension_separator"}
var version3Fields = []string{"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
	"fill_value", "codecs", "attributes", "dimension_names", "storage_transformers", "consolidated_metadata"}

// understood returns an error for a field that is not in lower case, since encoding/json ignores case. In
// version 3 an unknown field is an error, too, unless the metadata mark it as optional.
func understood(text []byte, version int) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	if !utf8.Valid(text) {
		return errors.New("it is no UTF-8; the metadata are damaged")
	}
	known := map[int][]string{2: version2Fields, 3: version3Fields}[version]
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var extension map[string]any
		switch {
		case slices.Contains(known, name):
			continue
		case slices.ContainsFunc(known, func(f string) bool { return strings.EqualFold(f, name) }):
			return fmt.Errorf("its field %.40q is not in lower case; the metadata are damaged", name)
		case version == 2, json.Unmarshal(fields[name], &extension) == nil && extension["must_understand"] == false:
			continue
		}
		return fmt.Errorf("its field %.40q is not understood, and does not say that it need not be; save it without", name)
	}
	return nil
}

func (n *Node) version3(s Store, text []byte) error {
	var m version3
	if err := json.Unmarshal(text, &m); err != nil {
		return err
	}
	if m.Format != 3 {
		return fmt.Errorf("it has version %d; want 2 or 3", m.Format)
	}
	if len(m.Attributes) > 0 {
		err := cmp.Or(json.Unmarshal(m.Attributes, &n.attributes), json.Unmarshal(m.Attributes, &n.conventions))
		if err != nil {
			return err
		}
	}
	if m.Node == "group" {
		return nil
	}
	if err := understood(text, 3); err != nil {
		return err
	}
	var typ string
	if err := json.Unmarshal(m.Type, &typ); err != nil || m.Node != "array" {
		return fmt.Errorf("a node %.40q of type %.80s, which is no array of numbers", m.Node, m.Type)
	}
	for _, name := range m.Names {
		if name == nil {
			name = new(string)
		}
		n.dimensions = append(n.dimensions, *name)
	}
	if len(m.Names) > 0 && len(m.Names) != len(m.Shape) {
		return fmt.Errorf("it names %d axes of %d; the metadata are damaged", len(m.Names), len(m.Shape))
	}
	a := &Array{store: s, at: n.at, Shape: m.Shape}
	err := m.chunks(a)
	if err != nil {
		return err
	}
	if err := a.codecs(m.Codecs); err != nil {
		return err
	}
	if a.Stored, err = typeOf(typ); err != nil {
		return err
	}
	a.Truth = typ == "bool"
	if a.coding.plain && a.Stored.Size() > 1 {
		return errEndian
	}
	if string(m.Fill) == "null" {
		return errors.New("its fill value is null; write the number")
	}
	n.Array = a
	return a.finish(m.Fill)
}

// chunks reads the grid of chunks and the form of their names.
func (m version3) chunks(a *Array) error {
	var cut struct {
		Shape []int64 `json:"chunk_shape"`
	}
	keys := struct{ Separator string }{"/"}
	a.prefix = "c"
	if m.Keys.Name == "v2" {
		keys.Separator, a.prefix = ".", ""
	}
	switch {
	case m.Grid.Name != "regular":
		return fmt.Errorf("its chunks lie in a grid %.40q; want a regular one", m.Grid.Name)
	case len(m.Storage) > 0:
		return errors.New("it has storage transformers, which are not read")
	case m.Keys.Name != "default" && m.Keys.Name != "v2":
		return fmt.Errorf("its chunks are named by %.40q; want default or v2", m.Keys.Name)
	}
	if err := cmp.Or(m.Grid.configure(&cut), m.Keys.configure(&keys)); err != nil {
		return err
	}
	a.chunk, a.separator = cut.Shape, keys.Separator
	return nil
}

// codecs reads the codecs of an array. The first may be sharding.
func (a *Array) codecs(list []named) (err error) {
	if len(list) == 0 || list[0].Name != sharding {
		a.coding, err = codingOf(list, len(a.Shape))
		return err
	}
	if len(list) > 1 {
		return fmt.Errorf("its shards are encoded by %.40q, so that no part of them can be read; save it with codecs of "+
			"the chunks within alone", list[1].Name)
	}
	var o struct {
		Shape    []int64 `json:"chunk_shape"`
		Codecs   []named `json:"codecs"`
		Index    []named `json:"index_codecs"`
		Location string  `json:"index_location"`
	}
	if err := list[0].configure(&o); err != nil {
		return err
	}
	if len(o.Shape) != len(a.chunk) {
		return fmt.Errorf("chunks of %v in shards of %v; the metadata are damaged", o.Shape, a.chunk)
	}
	if o.Location != "" && o.Location != "start" && o.Location != "end" {
		return fmt.Errorf("the index of its shards is at their %.40q; want start or end", o.Location)
	}
	a.shards = &shardGrid{first: o.Location == "start"}
	for i, n := range o.Shape {
		if n < 1 || a.chunk[i] < 1 || a.chunk[i]%n != 0 {
			return fmt.Errorf("chunks of %v in shards of %v, which do not fit; the metadata are damaged", o.Shape, a.chunk)
		}
		a.shards.each = append(a.shards.each, a.chunk[i]/n)
	}
	a.chunk = o.Shape
	if a.shards.coding, err = codingOf(o.Index, len(a.Shape)+1); err != nil {
		return fmt.Errorf("the index of its shards: %w", err)
	}
	if a.shards.coding.plain {
		return fmt.Errorf("the index of its shards: %w", errEndian)
	}
	if len(o.Codecs) > 0 && o.Codecs[0].Name == sharding {
		return errors.New("its shards are made of shards; save it with chunks in shards")
	}
	a.coding, err = codingOf(o.Codecs, len(a.Shape))
	return err
}

// typeOf returns the type with a name in version 3.
func typeOf(name string) (element.Type, error) {
	if name == "bool" {
		return element.Uint8, nil
	}
	if s := element.ParseType(name); s != 0 {
		return s, nil
	}
	return 0, fmt.Errorf("data type %.40q is not bool, an integer of up to 64 bits, float16, float32 or float64; save "+
		"it as one of them", name)
}

// version2 reads a .zarray.
func (n *Node) version2(s Store, text []byte) error {
	var m struct {
		Format     int             `json:"zarr_format"`
		Shape      []int64         `json:"shape"`
		Chunks     []int64         `json:"chunks"`
		Type       json.RawMessage `json:"dtype"`
		Compressor map[string]any
		Fill       json.RawMessage `json:"fill_value"`
		Order      string          `json:"order"`
		Filters    []map[string]any
		Separator  string `json:"dimension_separator"`
	}
	if err := cmp.Or(json.Unmarshal(text, &m), understood(text, 2)); err != nil {
		return err
	}
	var typ string
	if err := json.Unmarshal(m.Type, &typ); err != nil {
		return errors.New("the dtype is structured; save one of its fields as an array of its own")
	}
	a := &Array{store: s, at: n.at, separator: m.Separator, Shape: m.Shape, chunk: m.Chunks}
	if a.separator == "" {
		a.separator = "."
	}
	a.coding.order = naturals(len(a.Shape))
	switch m.Order {
	case "F":
		slices.Reverse(a.coding.order)
	case "C":
	default:
		return fmt.Errorf("order %.40q; want C or F", m.Order)
	}
	if m.Format != 2 {
		return fmt.Errorf("it has version %d; want 2 or 3", m.Format)
	}
	for _, f := range m.Filters {
		return fmt.Errorf("its filter %.40q is not read; save it without filters", f["id"])
	}
	if m.Compressor != nil {
		id, _ := m.Compressor["id"].(string)
		step, err := codecOf(id)
		if err != nil {
			return err
		}
		a.coding.steps = []chunkCodec{step}
	}
	var err error
	if a.Stored, a.coding.big, err = element.ParseNumPy(typ); err != nil {
		return err
	}
	a.Truth = element.IsNumPyBool(typ)
	n.Array = a
	if string(m.Fill) != "null" {
		n.fill = m.Fill
	}
	return a.finish(m.Fill)
}

// finish checks the metadata of an array and reads its fill value.
func (a *Array) finish(fill json.RawMessage) error {
	if len(a.Shape) == 0 {
		return errors.New("the array is a single number without axes; save an array of 1 to 3")
	}
	if len(a.Shape) > mostAxes || len(a.chunk) != len(a.Shape) {
		return fmt.Errorf("shape %v in chunks of %v; want 1 to %d axes, as many of both", a.Shape, a.chunk, mostAxes)
	}
	if a.separator != "." && a.separator != "/" {
		return fmt.Errorf("the numbers of a chunk's name are separated by %.40q; want . or /", a.separator)
	}
	whole, chunk, shard := a.Stored.Size(), a.Stored.Size(), int64(1)
	for i, n := range a.Shape {
		if n < 1 || a.chunk[i] < 1 || n > math.MaxInt64/8/whole || a.chunk[i] > mostChunk/chunk {
			return fmt.Errorf("shape %v in chunks of %v; want axes of at least 1, and chunks of at most %d bytes",
				a.Shape, a.chunk, int64(mostChunk))
		}
		whole, chunk = whole*n, chunk*a.chunk[i]
		if a.shards != nil {
			if a.shards.each[i] > mostInShard/shard {
				return fmt.Errorf("shards of %v chunks; want at most %d in each", a.shards.each, mostInShard)
			}
			shard *= a.shards.each[i]
		}
	}
	if len(fill) == 0 {
		return errors.New("it has no fill_value; the metadata are damaged")
	}
	a.fill, a.fillText = make([]byte, 8), "0"
	if string(fill) != "null" {
		a.fillText = fmt.Sprintf("%.40s", strings.Trim(string(fill), `"`))
		v, err := fillValue(fill, a.Stored)
		if err != nil {
			return fmt.Errorf("fill value %.40s: %w", fill, err)
		}
		binary.LittleEndian.PutUint64(a.fill, v)
	}
	a.fill = a.fill[:a.Stored.Size()]
	if a.coding.big {
		slices.Reverse(a.fill)
	}
	return nil
}

// Limits above all reasonable numbers of axes, sizes of chunks, and chunks in a shard.
const mostAxes, mostChunk, mostInShard = 32, 1 << 40, 1 << 24

// fillValue returns the bits of a fill value in JSON. It can be a number, a truth value, the name
// of a non-finite float, or the bits in hexadecimal digits.
func fillValue(text json.RawMessage, s element.Type) (uint64, error) {
	var word string
	if err := json.Unmarshal(text, &word); err != nil {
		word = strings.TrimSpace(string(text))
	}
	switch word {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	if hex, ok := strings.CutPrefix(word, "0x"); ok {
		return strconv.ParseUint(hex, 16, 8*int(s.Size()))
	}
	if s == element.Float16 {
		f, err := decimal.ParseFloat(word, 32)
		if err != nil {
			return 0, err
		}
		return uint64(halfBits(float32(f))), nil
	}
	data, err := element.AppendNumber(nil, s, word)
	if whole, isWhole := strings.CutSuffix(word, ".0"); err != nil && isWhole { // from some writers
		data, err = element.AppendNumber(nil, s, whole)
	}
	if err != nil {
		return 0, fmt.Errorf("it is no %s", s)
	}
	return binary.LittleEndian.Uint64(append(data, make([]byte, 8)...)), nil
}

// halfBits returns the bits of the float16 of a value, or of the next one below.
func halfBits(f float32) uint16 {
	if f != f {
		return 0x7e00
	}
	bits, size := uint16(0), float32(math.Abs(float64(f)))
	for bits < 0x7c00 && element.Half(bits+1) <= size {
		bits++
	}
	if math.Signbit(float64(f)) {
		bits |= 0x8000
	}
	return bits
}
