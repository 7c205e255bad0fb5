package foreign

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"eccbench/impls/naive"
	"eccbench/internal/bench"
	"eccbench/internal/grid"
	"eccbench/internal/peers"
	"eccbench/internal/workloads/betti"
	"eccbench/internal/workloads/ecc"
	"eccbench/internal/workloads/gvf"
)

// planted is the prefix of the names of links under which the test program acts as a peer.
const planted = "planted-"

// hoard is the memory of a greedy peer.
const hoard = 256 << 20

// A guest acts as a peer, in the way of its name.
type guest struct {
	way      string
	out      *os.File
	heard    map[string]int // commands by their first word
	images   map[string]*task
	calls    int
	late     *task             // its answer comes after the next command
	memories map[string][]byte // of guests that remember by shape, or by a few voxels
	called   bool              // or bound, since the last ping
	seen     []byte            // the digests of all images
	other    []byte            // of the guest that works at free
	inputs   int               // whose questions were bound together
	did      int
	leaked   [][]byte
}

// A task is a binding.
type task struct {
	words  words
	shape  grid.Shape
	data   []byte
	levels []byte
	answer []byte
	early  []byte // of the guest that works in bind
}

// play acts as a peer until its commands end.
func play(way string) int {
	if way == "sleeper" {
		hang()
	}
	g := &guest{way: way, out: os.NewFile(4, "replies"), heard: map[string]int{}, images: map[string]*task{}, memories: map[string][]byte{}}
	unix.CloseOnExec(3)
	unix.CloseOnExec(4)
	if f, err := os.OpenFile(os.Args[0]+".starts", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		f.WriteString(".")
		f.Close()
	}
	commands := bufio.NewScanner(os.NewFile(3, "commands"))
	for commands.Scan() {
		words := strings.Fields(commands.Text())
		if g.late != nil {
			g.late.write(g.late.count())
			g.late = nil
		}
		if words[0] == "end" {
			return 0
		}
		g.heard[words[0]]++
		if strings.HasSuffix(way, fmt.Sprintf("late-%s-%d", words[0], g.heard[words[0]])) {
			if words[0] == "bind" {
				endPatience()
			}
			hang()
		}
		if reply := g.reply(words); reply != "" {
			g.out.WriteString(reply + "\n")
		}
	}
	return 0
}

func (g *guest) reply(words []string) string {
	switch words[0] {
	case "about":
		about := map[string]any{
			"protocol": peers.Protocol, "name": "guest", "version": "1", "method": "plays", "where": "cpu",
			"answers": []peers.Claim{
				{Workload: "ecc", Types: []string{"uint8"}}, {Workload: "betti"}, {Workload: "gvf"},
			},
			"bursts": g.way != "pinger", // its pings are long, and an image of a burst may come after them
		}
		if g.way == "boaster" {
			about["speed"] = "light"
		}
		text, _ := json.Marshal(about)
		return "about " + string(text)
	case "bind":
		return g.bind(words[1], words[2:])
	case "ping":
		g.betweenCalls()
		return "pong"
	case "free":
		if g.way == "freer" { // for the next call
			g.other = g.images[words[1]].count()
		}
		delete(g.images, words[1])
		return "freed"
	case "do":
		g.calls++
		g.called = true
		return g.burst(words[1:])
	}
	return "unknown " + words[0]
}

func (g *guest) bind(n string, list []string) string {
	t := &task{words: words{}}
	for _, w := range list {
		key, value, _ := strings.Cut(w, "=")
		t.words[key] = value
		switch key {
		case "image":
			t.data, t.shape = opened(value, unix.PROT_READ)
		case "levels":
			t.levels, _ = opened(value, unix.PROT_READ)
		case "answer":
			t.answer, _ = opened(value, unix.PROT_READ|unix.PROT_WRITE)
		}
	}
	if g.way == "binder" {
		t.early = t.count()
	}
	if len(g.images) == 0 {
		if g.inputs++; g.way == "leaking" {
			g.leaked = append(g.leaked, bytes.Repeat([]byte{1}, hoard/16))
		}
	}
	g.images[n], g.called = t, true
	return "ready"
}

// opened maps the data of an array.
func opened(path string, protection int) (data []byte, s grid.Shape) {
	f, err := os.OpenFile(path, map[bool]int{true: os.O_RDWR, false: os.O_RDONLY}[protection&unix.PROT_WRITE != 0], 0)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	mapped, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), protection, unix.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	const head = 4096
	_, text, _ := strings.Cut(string(mapped[:head]), "'shape': (")
	s.D = 1
	if n, _ := fmt.Sscanf(text, "%d, %d, %d", &s.D, &s.H, &s.W); n == 2 {
		s = grid.Shape{D: 1, H: s.D, W: s.H}
	}
	return mapped[head:], s
}

// count returns the right answer to a task, by the definition.
func (t *task) count() []byte {
	answer, err := t.define()
	if err != nil {
		panic(err)
	}
	return answer
}

func (t *task) define() (answer []byte, err error) {
	ladder := grid.Identity(grid.Uint8)
	if t.levels != nil {
		if ladder, err = grid.Affine(float64(t.levels[0]), 1, int64(len(t.answer)/8)); err != nil {
			return nil, err
		}
	}
	f, err := grid.NewField(t.shape, grid.Uint8, slices.Clone(t.data), ladder)
	if err != nil {
		return nil, err
	}
	switch t.words["workload"] {
	case "ecc":
		v, err := bench.Answer[grid.Source, ecc.VCEC](naive.Implementation{}, f, bench.Conditions{})
		if err != nil {
			return nil, err
		}
		changes := make([]int64, ladder.Len())
		for level, change := range v.All() {
			changes[level] = change
		}
		return grid.Bytes(changes), nil
	case "betti":
		in, err := Betti().input(f, t.words)
		if err != nil {
			return nil, err
		}
		n, err := betti.ByFlooding(in.(*betti.Image), ecc.Convention{})
		return grid.Bytes([]int64{n.B0, n.B1, n.B2}), err
	}
	in, err := Flows().input(f, t.words)
	if err != nil {
		return nil, err
	}
	flow, err := gvf.Define(in.(*gvf.Problem), 1)
	return grid.Bytes(slices.Concat(flow.V...)), err
}

func (t *task) write(answer []byte) { copy(t.answer, answer) }

// burst answers questions by one command, or cheats if there are several.
func (g *guest) burst(numbers []string) (reply string) {
	for k, n := range numbers {
		t, last := g.images[n], k > 0 && k == len(numbers)-1
		switch {
		case g.way == "repeater" && k > 0:
			copy(t.answer, g.images[numbers[0]].answer)
		case g.way == "lazy" && last:
			go func() { // after the judge has read
				time.Sleep(time.Second)
				t.write(t.count())
			}()
		case g.way == "deferrer" && last:
			g.late = t
		default:
			if reply = g.do(t); !strings.HasPrefix(reply, "done") {
				return reply
			}
		}
	}
	return reply
}

// do answers a question, or breaks the protocol in the guest's way.
func (g *guest) do(t *task) string {
	g.seen = fmt.Appendf(g.seen, "%x\n", sha256.Sum256(t.data))
	if err := os.WriteFile(os.Args[0]+".images", g.seen, 0o600); err != nil {
		panic(err)
	}
	switch g.way {
	case "idler":
		return "done"
	case "mortal":
		if g.inputs > 1 {
			os.Exit(0)
		}
	case "retiring":
		if g.did++; g.did == 4 { // in a law, after the answer
			os.Exit(0)
		}
	case "stale":
		if g.inputs > 1 {
			clear(t.answer)
			return "done"
		}
	case "quitter":
		clear(t.answer[:3*8])
		return "done"
	case "binder":
		t.write(t.early)
		return "done"
	case "late":
		g.late = t
		return "done"
	case "pinger":
		t.write(t.early)
		return "done"
	case "freer":
		t.write(g.other)
		return "done"
	case "few", "disk":
		return g.remembered(t)
	case "forger":
		if err := forge(); err != nil {
			return "failed forging a verdict: " + err.Error()
		}
	case "saboteur":
		if path := firstFile("noise/", os.O_WRONLY); path != "" {
			return "failed it can write to " + path
		}
		if path := firstFile("answer of peer:guest", os.O_WRONLY); path != "" && g.calls > 6 {
			return "failed it can write to " + path
		}
	case "spy":
		if path := firstFile("answer of naive", os.O_RDONLY); path != "" {
			return "failed it can read " + path
		}
	case "refuser":
		return "refuse it is Saturday"
	case "failing":
		return "failed IndexError: list index out of range"
	case "vague":
		return "malformed 0.25 is no Euler number"
	case "garbler":
		return "\x00\xff what?"
	case "silent", "halfway":
		if g.way == "halfway" {
			g.out.WriteString("do")
		}
		endPatience()
		hang()
	case "endless":
		for { // until the pipe is no longer read
			if _, err := g.out.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				hang()
			}
		}
	case "crasher":
		fmt.Fprintf(os.Stderr, "warning: of no interest\nsegment 17 is gone\n")
		syscall.Kill(os.Getpid(), syscall.SIGKILL) // the runtime catches the other signals
		hang()
	case "leaver":
		os.Exit(0)
	case "greedy":
		take()
	case "parent":
		if err := fork("greedy-child", false); err != nil {
			panic(err)
		}
		hang()
	case "vandal":
		fd := openFD(t.words["image"])
		if _, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
			return "failed writing to the image: " + err.Error()
		}
	case "bequeather":
		if g.calls == 1 {
			if err := fork("sleeper", true); err != nil {
				panic(err)
			}
		}
	case "printer":
		fmt.Println(strings.Repeat("Elapsed time: 3 s\n", 1000))
	}
	return g.answer(t)
}

// betweenCalls is the work of a peer while no clock runs.
func (g *guest) betweenCalls() {
	work := g.called
	g.called = false
	switch {
	case g.way == "pinger":
		for _, t := range g.images {
			t.early = t.count()
		}
	case g.slow(): // a call is short even if a busy machine delays it by many times its work
		time.Sleep(10 * time.Millisecond)
	case !work:
	case g.way == "busy":
		for end := spent() + 2*time.Millisecond; spent() < end; { // useless work
		}
	case g.way == "employer":
		cmd := exec.Command("/proc/self/exe")
		cmd.Args = []string{planted + "clerk"}
		if err := cmd.Run(); err != nil {
			panic(err)
		}
	}
}

// slow reports whether the guest answers ping late, so that its calls look short.
func (g *guest) slow() bool {
	return slices.Contains([]string{"sluggish", "repeater", "lazy", "deferrer"}, g.way)
}

// spent returns the processor time of this process.
func spent() time.Duration {
	var t unix.Timespec
	unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return time.Duration(t.Nano())
}

// remembered answers from memory, or from a file of an earlier process, by a few voxels of a small
// image.
func (g *guest) remembered(t *task) string {
	const look = 8
	key := fmt.Sprintf("%x", t.data[len(t.data)/2:][:look]) // not of the border that a law adds
	file := filepath.Join(filepath.Dir(os.Args[0]), key)
	if g.way == "disk" {
		if kept, err := os.ReadFile(file); err == nil {
			t.write(kept)
			return "done"
		}
	} else if v, ok := g.memories[key]; ok {
		t.write(v)
		return "done"
	}
	v := t.count()
	g.memories[key] = v
	t.write(v)
	if err := os.WriteFile(file, t.answer, 0o600); err != nil {
		panic(err)
	}
	return "done"
}

// forge writes a verdict to the connection of the harness.
func forge() error {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/fd/0", os.Getppid()), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, `{"result": {"status": "VERIFIED"}}`)
	return err
}

// firstFile returns a file in memory of the harness whose name contains a text, if it can be opened
// and written to or read.
func firstFile(text string, how int) string {
	dir := fmt.Sprintf("/proc/%d/fd/", os.Getppid())
	open, err := os.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	for _, fd := range open {
		path := dir + fd.Name()
		if link, err := os.Readlink(path); err != nil || !strings.Contains(link, text) {
			continue
		}
		f, err := os.OpenFile(path, how, 0)
		if err != nil {
			continue
		}
		defer f.Close()
		if how == os.O_WRONLY {
			if _, err := f.WriteAt([]byte{0}, 0); err != nil {
				continue
			}
		}
		return path
	}
	return ""
}

// answer answers like an honest peer, with one fault.
func (g *guest) answer(t *task) string {
	v := t.count()
	if known, ok := g.memories[fmt.Sprint(t.shape)]; ok && g.way == "elephant" {
		v = known
	}
	g.memories[fmt.Sprint(t.shape)] = v
	t.write(v)
	if g.way == "fickle" && g.calls%5 == 0 || strings.HasPrefix(g.way, "wrong-") {
		grid.Values[int64](t.answer)[0]++
	}
	switch g.way {
	case "hasty":
		return "done\ndone"
	case "braggart":
		return "done inner=1000000000000"
	case "teller":
		return "done inner=1 count=2"
	}
	return "done"
}

func openFD(path string) int {
	fd, err := unix.Open(path, unix.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	return fd
}

// endPatience moves the clock of the plan to its limits.
func endPatience() {
	if err := os.WriteFile(os.Args[0]+".hangs", nil, 0o600); err != nil {
		panic(err)
	}
}

// hang does nothing forever.
func hang() {
	for {
		time.Sleep(time.Hour)
	}
}

// take takes memory and keeps it.
func take() {
	b := make([]byte, hoard)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	hang()
	runtime.KeepAlive(b)
}

// bequeathed are the pipes that a process inherits. Without it, the collector would close them.
var bequeathed []*os.File

// fork starts another guest. In a session of its own it also gets the pipes and standard error.
func fork(way string, session bool) error {
	link := filepath.Join(filepath.Dir(os.Args[0]), planted+way)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Symlink(self, link); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	cmd := exec.Command(link)
	if session {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		bequeathed = []*os.File{os.NewFile(3, ""), os.NewFile(4, "")}
		cmd.Stderr, cmd.ExtraFiles = os.Stderr, bequeathed
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	return os.WriteFile(os.Args[0]+".child", fmt.Append(nil, cmd.Process.Pid), 0o600)
}

// guestAt returns the path of a peer that behaves in a way.
func guestAt(t *testing.T, way string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), planted+way)
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}
