// Package peers runs other people's programs that answer questions by the protocol eccbench-peer/1.
// A peer is one executable. It exchanges lines of words over two pipes, and images and answers as
// .npy files in memory. The package is independent of the questions.
package peers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"eccbench/internal/grid"
	"eccbench/internal/regular"
)

// Protocol is the version that this package speaks.
const Protocol = "eccbench-peer/1"

// Prefix begins the names of peers among implementations, so that none poses as one of ours.
const Prefix = "peer:"

// A Peer is one executable with its description.
type Peer struct {
	Name string `json:"row"` // without Prefix
	Path string `json:"path"`
	// Args are the arguments of the executable.
	Args   []string `json:"args,omitempty"`
	SHA256 string   `json:"sha256"`
	About
	// Broken is the reason why the peer has no valid description, "" for a valid one. Its rows are
	// CRASHED.
	Broken string `json:"broken,omitempty"`
	// Own marks an implementation of this program. Its process reports the times of each call.
	Own bool `json:"own,omitempty"`
	// Edits is set if the harness changes the image a little in each call, so that the file of an
	// input needs no copy.
	Edits bool `json:"edits,omitempty"`
	// Limit is the longest time of a reply. The first one of a process may take as long as a phase of a
	// cell. 0 means five minutes for a description or RoundTrip, and the limit of a phase in a worker.
	Limit time.Duration `json:"-"`
	// Waiting is called with a verb whose reply is late, and with "" when the reply arrives. nil to
	// ignore that.
	Waiting func(verb string) `json:"-"`

	mu      sync.Mutex
	process *Process
	users   int
	held    bool // until Release, by a user that asks nothing
}

// A Stamp identifies the program of a peer in records.
type Stamp struct {
	Version  string `json:"version"`
	Licence  string `json:"licence,omitempty"`
	Language string `json:"language,omitempty"`
	Path     string `json:"path"` // with its arguments
	SHA256   string `json:"sha256"`
}

// Own returns an implementation of the program at a path as the peer of one question, for which
// Edits is set or not.
func Own(name, question string, edits bool, path string, args ...string) *Peer {
	about := About{Where: "cpu", Answers: []Claim{ClaimOf(question)}, Bursts: true}
	return &Peer{Name: name, Path: path, Args: args, About: about, Own: true, Edits: edits}
}

// Line returns the absolute path and the arguments.
func (p *Peer) Line() string { return strings.Join(append([]string{p.Path}, p.Args...), " ") }

// Command returns the path and the arguments. A path below the working directory is relative to it.
func (p *Peer) Command() string {
	if dir, err := os.Getwd(); err == nil {
		if below, ok := strings.CutPrefix(p.Line(), dir+"/"); ok {
			return "./" + below
		}
	}
	return p.Line()
}

// Stamp returns the peer's stamp.
func (p *Peer) Stamp() *Stamp { return &Stamp{p.Version, p.Licence, p.Language, p.Command(), p.SHA256} }

// An About is a peer's description of itself, as JSON. Unknown fields are errors.
type About struct {
	Protocol string  `json:"protocol"`
	Self     string  `json:"name"`
	Version  string  `json:"version"`
	Method   string  `json:"method"`
	Source   string  `json:"source,omitempty"`
	Licence  string  `json:"licence,omitempty"`
	Language string  `json:"language,omitempty"`
	Where    string  `json:"where"` // "cpu" or "gpu"
	Answers  []Claim `json:"answers"`
	// Bursts is set if a command do may have the numbers of several questions.
	Bursts bool `json:"bursts,omitempty"`
}

// A Claim is a question that a peer answers, with limits for its images. Cells outside of it are
// SKIPPED without starting the peer.
type Claim struct {
	Workload     string   `json:"workload"`
	Construction string   `json:"construction,omitempty"` // "T" (default) or "V"
	Sets         string   `json:"sets,omitempty"`         // "sub" (default) or "super"
	Dims         []int    `json:"dims,omitempty"`         // 2, 3; default both
	Types        []string `json:"dtypes,omitempty"`       // default all
	MinSide      int64    `json:"min_side,omitempty"`
	MaxSide      int64    `json:"max_side,omitempty"`
	MaxVoxels    int64    `json:"max_voxels,omitempty"`
	MaxLevels    int64    `json:"max_levels,omitempty"`
	// NSPerVoxel and BytesPerVoxel estimate the time and the memory of an answer; 0 for unknown.
	NSPerVoxel    float64 `json:"ns_per_voxel,omitempty"`
	BytesPerVoxel float64 `json:"bytes_per_voxel,omitempty"`
}

// Question returns the name of the claim's workload: "ecc", "ecc-v" for the V-construction, or
// "ecc-super" for superlevel sets.
func (c Claim) Question() string {
	name := c.Workload
	if c.Construction == "V" {
		name += "-v"
	}
	if c.Sets == "super" {
		name += "-super"
	}
	return name
}

// Allows returns the reason why an image is outside of the claim, nil for one within it.
func (c Claim) Allows(in grid.Source) error {
	s := in.Shape()
	sides := s.Sides()
	least, most := slices.Min(sides), slices.Max(sides)
	switch {
	case len(c.Dims) > 0 && !slices.Contains(c.Dims, s.Dim()):
		return fmt.Errorf("claims no images of %d dimensions", s.Dim())
	case len(c.Types) > 0 && !slices.Contains(c.Types, in.Type().String()):
		return fmt.Errorf("claims no images of %v", in.Type())
	case least < c.MinSide:
		return fmt.Errorf("claims sides of %d at least, not %d", c.MinSide, least)
	case c.MaxSide > 0 && most > c.MaxSide:
		return fmt.Errorf("claims sides of %d at most, not %d", c.MaxSide, most)
	case c.MaxVoxels > 0 && s.Voxels() > c.MaxVoxels:
		return fmt.Errorf("claims %d voxels at most, not %d", c.MaxVoxels, s.Voxels())
	case c.MaxLevels > 0 && in.Ladder().Len() > c.MaxLevels:
		return fmt.Errorf("claims %d levels at most, not %d", c.MaxLevels, in.Ladder().Len())
	}
	return nil
}

// ClaimOf returns the claim of a question without limits: the inverse of Question.
func ClaimOf(question string) (c Claim) {
	var found bool
	if question, found = strings.CutSuffix(question, "-super"); found {
		c.Sets = "super"
	}
	if question, found = strings.CutSuffix(question, "-v"); found {
		c.Construction = "V"
	}
	c.Workload = question
	return c
}

// Claims returns the claim of a workload, nil where there is none.
func (p *Peer) Claims(question string) *Claim {
	i := slices.IndexFunc(p.Answers, func(c Claim) bool { return c.Question() == question })
	if i < 0 {
		return nil
	}
	return &p.Answers[i]
}

var selfName, notInNames = regexp.MustCompile(`^[a-z0-9.+-]{1,40}$`), regexp.MustCompile(`[^a-z0-9.+-]+`)

// longest is the number of characters of a peer's text that are shown.
const longest = 200

// parseAbout reads a description strictly.
func parseAbout(text string) (a About, err error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	err = d.Decode(&a)
	wrong := (*json.UnmarshalTypeError)(nil)
	switch {
	case errors.As(err, &wrong):
		want := map[reflect.Kind]string{reflect.Struct: "object", reflect.Slice: "array"}[wrong.Type.Kind()]
		return a, fmt.Errorf("about: %s is a JSON %s, want %s", cmp.Or(wrong.Field, "the description"), wrong.Value,
			cmp.Or(want, wrong.Type.String()))
	case errors.As(err, new(*json.SyntaxError)), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return a, fmt.Errorf("about: %q is no JSON object", shown(text))
	case err != nil:
		return a, fmt.Errorf("about: %w", err)
	}
	if d.More() {
		return a, errors.New("about: more than one JSON object")
	}
	return a, a.check()
}

func (a About) check() error {
	switch {
	case a.Protocol != Protocol:
		return fmt.Errorf("about: protocol is %q, want %s", shown(a.Protocol), Protocol)
	case !selfName.MatchString(a.Self):
		return fmt.Errorf("about: name is %q, want %s", shown(a.Self), selfName)
	case a.Where != "cpu" && a.Where != "gpu":
		return fmt.Errorf("about: where is %q, want cpu or gpu", shown(a.Where))
	case a.Version == "" || a.Method == "":
		return errors.New("about: version or method is missing")
	case len(a.Answers) == 0:
		return errors.New("about: answers is empty")
	}
	for _, text := range []string{a.Version, a.Method, a.Source, a.Licence, a.Language} {
		if shown(text) != text {
			return fmt.Errorf("about: %q: want at most %d printable characters", shown(text), longest)
		}
	}
	for i, c := range a.Answers {
		if err := c.check(); err != nil {
			return fmt.Errorf("about: answers[%d]: %w", i, err)
		}
		if slices.ContainsFunc(a.Answers[:i], func(b Claim) bool { return b.Question() == c.Question() }) {
			return fmt.Errorf("about: two answers to %s", c.Question())
		}
	}
	return nil
}

func (c Claim) check() error {
	switch {
	case !selfName.MatchString(c.Workload):
		return fmt.Errorf("workload is %q", shown(c.Workload))
	case !slices.Contains([]string{"", "T", "V"}, c.Construction):
		return fmt.Errorf("construction is %q, want T or V", shown(c.Construction))
	case !slices.Contains([]string{"", "sub", "super"}, c.Sets):
		return fmt.Errorf("sets is %q, want sub or super", shown(c.Sets))
	case slices.ContainsFunc(c.Dims, func(d int) bool { return d != 2 && d != 3 }):
		return fmt.Errorf("dims are %v, want 2, 3 or both", c.Dims)
	case c.NSPerVoxel < 0 || c.BytesPerVoxel < 0 || min(c.MinSide, c.MaxSide, c.MaxVoxels, c.MaxLevels) < 0:
		return errors.New("a limit is negative")
	}
	for _, t := range c.Types {
		if _, err := grid.ParseType(t); err != nil {
			return fmt.Errorf("dtypes: %w", err)
		}
	}
	return nil
}

// shown returns a text of a peer for printing. Unprintable characters become '?', and long texts
// are cut.
func shown(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if r := []rune(text); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return text
}

// Bytes returns the size of the elements of an array of a NumPy type such as "<f4".
func Bytes(kind string, shape []int64) int64 {
	size := int64(kind[2] - '0')
	for _, n := range shape {
		size *= n
	}
	return size
}

// CanShare reports whether peers can open arrays: on Linux, unless a sandbox forbids it.
var CanShare = sync.OnceValue(func() bool {
	a, err := NewArray("test", "|u1", []int64{1}, true)
	if err != nil {
		return false
	}
	defer a.Close()
	b, _, _, err := Open(a.Path(), false)
	if err == nil {
		b.Close()
	}
	return err == nil
})

// New returns the peer at a path, which must contain a slash: PATH is not searched. If there is no
// such file, the words after the first blank are arguments.
func New(name, path string, args ...string) (*Peer, error) {
	if words := strings.Fields(path); len(args) == 0 && len(words) > 1 {
		if _, err := os.Stat(path); err != nil {
			path, args = words[0], words[1:]
		}
	}
	if !strings.Contains(path, "/") {
		return nil, fmt.Errorf("peer %s: want a path with a slash, such as ./%s", path, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	if !isProgram(info) {
		return nil, fmt.Errorf("peer %s: not a program that can be run", path)
	}
	if name != "" && !selfName.MatchString(name) {
		return nil, fmt.Errorf("peer %s: its name %q does not match %s", path, name, selfName)
	}
	sum, err := regular.Hash(path)
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	return &Peer{Name: name, Path: path, Args: args, SHA256: sum}, nil
}

// In returns the peers of a folder: the executable files directly in it. It rejects a folder or a
// file that other users may write to.
func In(dir string) (list []*Peer, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("peers: %w", err)
	}
	if err := checkWriters(dir); err != nil {
		return nil, err
	}
	for _, e := range entries {
		path, err := filepath.Abs(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if info, err := os.Stat(path); err != nil || !isProgram(info) {
			continue
		}
		if err := checkWriters(path); err != nil {
			return nil, err
		}
		p, err := New("", path)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("peers %s: no executable file in it", dir)
	}
	return list, nil
}

func isProgram(info os.FileInfo) bool { return info.Mode().IsRegular() && info.Mode()&0o111 != 0 }

// checkWriters returns an error if anybody may write to a path.
func checkWriters(path string) error {
	if info, err := os.Stat(path); err != nil || info.Mode()&0o002 != 0 {
		return fmt.Errorf("peers %s: anybody may write to it; chmod o-w %s", path, path)
	}
	return nil
}

// Describe reads the peer's description, and sets Broken if it is not valid. env adds variables to
// its environment.
func (p *Peer) Describe(env ...string) {
	err := p.describe(env)
	if broke := new(Error); errors.As(err, &broke) {
		p.Broken = broke.Verb + ": " + broke.Why
	} else if err != nil {
		p.Broken = err.Error()
	}
	if p.Name == "" {
		p.Name = p.Self
	}
	if !selfName.MatchString(p.Name) {
		p.Name = strings.Trim(notInNames.ReplaceAllString(strings.ToLower(filepath.Base(p.Path)), "-"), "-")
		p.Name = p.Name[:min(len(p.Name), 40)]
	}
	if p.Where != "gpu" {
		p.Where = "cpu"
	}
}

func (p *Peer) describe(env []string) error {
	process, err := start(p, launch{path: p.Path, alone: true, family: true, env: env})
	if err != nil {
		return err
	}
	defer process.end()
	reply, err := process.exchange("about")
	if err != nil {
		return err
	}
	text, ok := strings.CutPrefix(reply, "about ")
	if !ok {
		return fmt.Errorf("about: answered %q", shown(reply))
	}
	p.About, err = parseAbout(text)
	return err
}

// RoundTrip starts a process of the peer on one core. It returns the time of the start and the first
// reply, and the shortest time of some round trips without work.
func (p *Peer) RoundTrip() (startup, least time.Duration, err error) {
	const trips = 200
	began := time.Now()
	how := launch{path: p.Path, cores: 1, alone: true, family: true}
	if all := Cores(); len(all) > 1 {
		how.bound = all[:1]
	}
	process, err := start(p, how)
	if err != nil {
		return 0, 0, err
	}
	defer process.end()
	least = time.Hour
	for n := range trips {
		took, err := process.Ping()
		if err != nil {
			return 0, 0, err
		}
		if n == 0 {
			startup = time.Since(began)
		} else {
			least = min(least, took)
		}
	}
	return startup, least, nil
}

// A launch is how to start a process.
type launch struct {
	path   string   // of the executable
	env    []string // added to the environment
	cores  int      // for its threads, 0 for all
	bound  []int    // cores that it runs on, none for all
	alone  bool     // in a process group of its own, without a worker that limits its time
	family bool     // it may start processes
}

// Acquire returns the peer's process, and starts it for the first user. The process may use the
// given number of cores. Each user calls Release.
func (p *Peer) Acquire(cores int) (*Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Broken != "" {
		return nil, &Error{Kind: Broken, Verb: "start", Why: p.Broken}
	}
	if p.process != nil && p.held && p.users == 1 && p.process.dead != nil { // it broke in an earlier task
		p.process.end()
		p.process = nil
	}
	if p.process == nil {
		how := launch{path: p.Path, cores: cores, family: true}
		if all := Cores(); cores < len(all) {
			how.bound = all[:cores]
		}
		if p.Own {
			how = launch{path: "/proc/self/exe", cores: cores} // the running program, even if its file was replaced
			how.env = []string{"GOTRACEBACK=none", fmt.Sprintf("GOMEMLIMIT=%d", debug.SetMemoryLimit(-1))}
		} else if now, err := regular.Hash(p.Path); err != nil || now != p.SHA256 {
			return nil, &Error{Kind: Broken, Verb: "start", Why: p.Path + " was replaced since the run began"}
		}
		process, err := start(p, how)
		if err != nil {
			return nil, err
		}
		p.process = process
	}
	p.users++
	return p.process, nil
}

// Hold keeps the process of the next user until Release.
func (p *Peer) Hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users++
	p.held = true
}

// Release ends the process after its last user.
func (p *Peer) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users == 0 && p.process != nil {
		p.process.end()
		p.process = nil
	}
}

// Trace is the word of a call that asks a process of this program for the parts of its work.
const Trace = "trace"

// A Kind is a reason why a peer gives no answer.
type Kind int

// The kinds.
const (
	Refused   Kind = iota // it rejects the question
	Failed                // an exception, after which the peer continues
	Malformed             // its result is no answer, such as 0.25 for an Euler number
	Broken                // it died, or sent a line outside the protocol
	Late                  // it did not reply in time
)

// An Error is a verb that a peer did not answer, with the reason.
type Error struct {
	Kind      Kind
	Verb, Why string
	Own       bool // the peer is a process of this program
}

// Subject returns the words for a peer, or for a process of this program, in messages.
func Subject(own bool) string {
	if own {
		return "its process"
	}
	return "the peer"
}

func (e *Error) Error() string {
	switch e.Kind {
	case Refused:
		return Subject(e.Own) + " refuses: " + e.Why
	case Failed:
		return Subject(e.Own) + " failed at " + e.Verb + ": " + e.Why
	case Malformed:
		return "malformed: " + e.Why
	case Late:
		return Subject(e.Own) + " is late at " + e.Verb + ": " + e.Why
	}
	return Subject(e.Own) + " broke at " + e.Verb + ": " + e.Why
}

// A tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailBytes is the number of bytes that a tail keeps.
const tailBytes = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-tailBytes):]...)
	t.text = t.text[max(0, len(t.text)-tailBytes):]
	return len(b), nil
}

// lastLine returns the last line that is not blank.
func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.text), []byte("\n"))
	return shown(strings.TrimSpace(string(lines[len(lines)-1])))
}

// A Task is a question of Serve.
type Task interface {
	// Answer writes the answer for the current contents of the image. It returns the times of parts of
	// the call if the question asks for them, with trace also those of the implementation.
	Answer(trace bool) (map[string]time.Duration, error)
	// Allocated returns the least number of bytes that one of some calls allocates.
	Allocated(calls int) (int64, error)
	Close() error
}

// ErrAlone reports that Serve was not started by a harness.
var ErrAlone = errors.New("descriptors 3 and 4 are no pipes: eccbench starts this command itself " +
	"(eccbench run)")
