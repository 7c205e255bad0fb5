// Package web tries the page in Chromium, which the test drives by the protocol of its developer tools.
package web

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"eccbench/internal/grid"
	"eccbench/internal/headers"
)

// A browser is a Chromium with one page.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	number  int
	console []string // errors of the page
}

// start starts Chromium. It skips the test if there is none or the page is not built.
func start(t *testing.T) (b *browser, address string, server *httptest.Server) {
	t.Helper()
	folder := os.Getenv("ECCBENCH_WEB")
	if folder == "" {
		t.Skip("make web-test builds the page, and names its folder in ECCBENCH_WEB")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	server = httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	read, to := pipe(t)
	from, write := pipe(t)
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{read, write}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read.Close()
	write.Close()
	b = &browser{t: t, to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		b.call("Browser.close", nil)
		cmd.Wait()
	})
	target := b.call("Target.createTarget", map[string]any{"url": "about:blank"})
	attached := b.call("Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})
	b.session, _ = attached["sessionId"].(string)
	for _, domain := range []string{"Page", "Runtime", "DOM", "Accessibility"} {
		b.call(domain+".enable", nil)
	}
	return b, server.URL, server
}

func pipe(t *testing.T) (read, write *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close(); write.Close() })
	return read, write
}

// call calls a method and returns its result. Complaints of the page on the way are kept.
func (b *browser) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	b.number++
	message := map[string]any{"id": b.number, "method": method, "params": params}
	if params == nil {
		message["params"] = map[string]any{}
	}
	if b.session != "" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		text, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		var reply struct {
			ID     int
			Method string
			Params json.RawMessage
			Result map[string]any
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(text[:len(text)-1], &reply); err != nil {
			b.t.Fatal(err)
		}
		if reply.Method == "Runtime.exceptionThrown" || reply.Method == "Runtime.consoleAPICalled" {
			b.console = append(b.console, string(reply.Params))
		}
		if reply.ID == b.number && reply.Error != nil {
			b.t.Fatalf("%s: %s", method, reply.Error.Message)
		}
		if reply.ID == b.number {
			return reply.Result
		}
	}
}

// eval evaluates an expression of JavaScript, or waits for its promise, and decodes its value.
func (b *browser) eval(to any, format string, args ...any) {
	b.t.Helper()
	expression := fmt.Sprintf(format, args...)
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true}
	result := b.call("Runtime.evaluate", params)
	if thrown, ok := result["exceptionDetails"]; ok {
		b.t.Fatalf("%s: %v", expression, thrown)
	}
	text, err := json.Marshal(result["result"].(map[string]any)["value"])
	if err == nil && to != nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		b.t.Fatalf("%s: %s: %v", expression, text, err)
	}
}

// until waits until an expression is true.
func (b *browser) until(expression string) {
	b.t.Helper()
	b.eval(nil, `new Promise(done => {
		const look = () => (%s) ? done(true) : setTimeout(look, 20);
		look();
	})`, expression)
}

// settled is true once all requests are shown, or an error is.
const settled = `!document.getElementById("fault").hidden ||
	now.about && now.curve && now.set && now.plane && !now.image.busy && !now.counter.busy`

// choose selects files on the page.
func (b *browser) choose(paths ...string) {
	b.t.Helper()
	root := b.call("DOM.getDocument", nil)["root"].(map[string]any)["nodeId"]
	node := b.call("DOM.querySelector", map[string]any{"nodeId": root, "selector": "#files"})["nodeId"]
	b.eval(nil, `now.about = now.curve = now.set = now.plane = null, true`)
	b.call("DOM.setFileInputFiles", map[string]any{"nodeId": node, "files": paths})
	b.until(settled)
}

func (b *browser) text(id string) (text string) {
	b.t.Helper()
	b.eval(&text, `document.getElementById(%q).textContent`, id)
	return text
}

// file returns the text that a button of the page saves.
func (b *browser) file(id string) string {
	b.t.Helper()
	var text string
	b.eval(&text, `new Promise(done => {
		save = bytes => done(new TextDecoder().decode(bytes));
		document.getElementById(%q).click();
	})`, id)
	return text
}

// npy returns a file of NumPy's format.
func npy[T grid.Element | int64](kind string, values []T, shape ...int64) []byte {
	return append(headers.Npy(kind, shape...), grid.Bytes(values)...)
}

// picture makes a PNG of random values.
func picture(t *testing.T, seed uint32) []byte {
	t.Helper()
	grey := image.NewGray(image.Rect(0, 0, 31, 17))
	for i := range grey.Pix {
		grey.Pix[i] = uint8((uint32(i) + 999*seed) * 2654435761 >> 27)
	}
	grey.SetGray(3, 3, color.Gray{Y: 200})
	var file bytes.Buffer
	if err := png.Encode(&file, grey); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// images writes files of several formats and types, some of them without an answer.
func images(t *testing.T, folder string) (paths []string) {
	t.Helper()
	bytes8, floats, wide := make([]uint8, 9*8*7), make([]float32, 9*8*7), make([]int64, 9*8*7)
	for i := range bytes8 {
		v := uint32(i+1) * 2654435761 >> 24
		bytes8[i], floats[i], wide[i] = uint8(v)/16, float32(v)/7, int64(v)<<50+int64(i)
	}
	gaps := slices.Clone(floats)
	gaps[5] = float32(math.NaN())
	for name, data := range map[string][]byte{
		"bytes.npy": npy("u1", bytes8, 7, 8, 9), "floats.npy": npy("f4", floats, 7, 8, 9),
		"wide.npy": npy("i8", wide, 7, 8, 9), "gaps.npy": npy("f4", gaps, 7, 8, 9),
		"flat.npy": npy("u1", bytes8, 24, 21), "a grey's.png": picture(t, 0), "words.txt": []byte("no image"),
		"series.npy": npy("u1", bytes8, 2, 3, 12, 7),
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if brain := "/usr/share/mricron/templates/ch2.nii.gz"; !testing.Short() {
		if _, err := os.Stat(brain); err == nil {
			paths = append(paths, brain)
		}
	}
	slices.Sort(paths)
	return paths
}

// The page answers in the bytes of the command, in every convention.
func TestPageWritesWhatTheCommandWrites(t *testing.T) {
	b, address, _ := start(t)
	b.call("Page.navigate", map[string]any{"url": address})
	b.until(`typeof now !== "undefined" && (` + settled + `)`)
	folder := t.TempDir()
	for _, path := range images(t, folder) {
		for _, args := range [][]string{nil, {"--superlevel", "--construction", "V"}, {"--nan", "mask"}} {
			compare(t, b, filepath.Base(path), []string{path}, args)
		}
	}
	compare(t, b, "slices", stack(t, folder), []string{"--stack"})
	b.drops()
	for i, path := range samples(t) {
		if os.Getenv("ECCBENCH_LONG") != "" || i%4 == 0 {
			compare(t, b, filepath.Base(path), []string{path}, nil)
		}
	}
	for _, names := range [][]string{
		{"i16_pair_3d.hdr", "i16_pair_3d.img"}, {"u16_detached_3d.mhd", "u16_detached_3d.raw"},
		{"i16_list_3d.nhdr", "i16_part_1.raw", "i16_part_2.raw"},
	} {
		var paths []string
		for _, name := range names {
			path, err := filepath.Abs(filepath.Join(sampled, name))
			if err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		compare(t, b, names[0], paths, nil)
	}
	if len(b.console) > 0 {
		t.Errorf("the console says %q", b.console)
	}
}

// drops drops the files of one image and of several, whose files may have equal names in different folders.
func (b *browser) drops() {
	b.t.Helper()
	b.eval(nil, `document.querySelector("[value=T]").checked = document.querySelector("[value=sub]").checked = true`)
	for _, c := range []struct{ paths, want string }{
		{"ct/a/1.npy ct/a/2.npy", "ct/a: 2 × 1 × 2"},
		{"a.zarr/x/.zarray a.zarr/.zgroup", "a.zarr: "},
		{"ct/a/1.npy ct/a/2.npy ct/b/1.npy ct/b/2.npy", "These are 2 images: ct/a, ct/b. Choose one of them."},
		{"ct/1.npy ct/b/1.npy", "These are 2 images: ct, ct/b. Choose one of them."},
		{"1.npy ct/1.npy", "These are 2 images: files without a folder, ct. Choose one of them."},
		{"s/b.mhd s/b.raw s/a.mhd s/a.raw", "These are 2 images: s/a.mhd, s/b.mhd. Choose one of them."},
		{"a.zarr/.zarray b.zarr/.zarray", "These are 2 images: a.zarr, b.zarr. Choose one of them."},
		{"a.mhd a.raw b.nii.gz", "These are 2 images: a.mhd, b.nii.gz. Choose one of them."},
		{"a.zarr/.zarray x.mhd x.raw", "These are 2 images: a.zarr, x.mhd. Choose one of them."},
		{"d/meta/x.mhd d/1.png d/2.png", "These are 3 images: d/1.png, d/2.png, d/meta/x.mhd. Choose one of them."},
	} {
		b.eval(nil, `now.about = now.curve = now.set = now.plane = null, true`)
		var got string
		b.eval(&got, `new Promise(done => {
			const bytes = Uint8Array.from(atob(%q), c => c.charCodeAt(0)), was = now.label;
			choose(%q.split(" ").map(path => ({ path, file: new File([bytes], path.split("/").pop()) })));
			const label = now.label;
			const look = () => !document.getElementById("fault").hidden
				? done(label === was ? document.getElementById("fault").textContent : label + ": ")
				: now.about ? done(label + ": " + document.getElementById("about").textContent) : setTimeout(look, 20);
			look();
		})`, base64.StdEncoding.EncodeToString(npy("u1", []uint8{1, 2}, 1, 2)), c.paths)
		if !strings.HasPrefix(got, c.want) {
			b.t.Errorf("%s: the page says %q, want %q", c.paths, got, c.want)
		}
	}
}

// sampled is the folder of the files for trying the readers.
var sampled = filepath.Join("..", "datasets", "files", "testdata", "files")

// samples are the files that the readers are tried on, each in a folder of its own.
func samples(t *testing.T) (paths []string) {
	t.Helper()
	entries, err := os.ReadDir(sampled)
	if err != nil || len(entries) < 100 {
		t.Fatalf("%d files in %s: %v", len(entries), sampled, err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		path := filepath.Join(t.TempDir(), e.Name())
		data, err := os.ReadFile(filepath.Join(sampled, e.Name()))
		if err == nil {
			err = os.WriteFile(path, data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// stack is the slices of a volume.
func stack(t *testing.T, folder string) (paths []string) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(folder, "slices"), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 11 {
		path := filepath.Join(folder, "slices", fmt.Sprintf("%d.png", i))
		if err := os.WriteFile(path, picture(t, uint32(i)), 0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// compare compares the page's answer about files with that of the command about an input: a file of
// their folder, or the folder. args are for the command.
func compare(t *testing.T, b *browser, input string, paths, args []string) {
	t.Helper()
	either := func(arg, on, off string) string {
		if slices.Contains(args, arg) {
			return on
		}
		return off
	}
	b.eval(nil, `document.querySelector("[value=%s]").checked = document.querySelector("[value=%s]").checked = true,
		document.getElementById("nan").checked = %s`,
		either("V", "V", "T"), either("--superlevel", "super", "sub"), either("mask", "true", "false"))
	b.choose(paths...)
	path := paths[0]
	if filepath.Base(filepath.Dir(path)) == input {
		path = filepath.Dir(path)
	}
	var volume string // that the page chose
	if b.eval(&volume, `now.volume`); volume != "" {
		args = append(slices.Clone(args), "--volume", volume)
	}
	plot := filepath.Join(t.TempDir(), "curve.svg")
	args = append([]string{input}, args...)
	program := os.Getenv("ECCBENCH_WEB_PROGRAM")
	cmd := exec.Command(program, append([]string{"curve", "--quiet", "--plot", plot}, args...)...)
	cmd.Dir = filepath.Dir(path)
	var want, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &want, &stderr
	var fault bool
	b.eval(&fault, `!document.getElementById("fault").hidden`)
	if err := cmd.Run(); err != nil {
		if !fault {
			t.Errorf("%q: the page answers, the command says %s", args, &stderr)
		}
		t.Logf("%q: %q", args, b.text("fault"))
		return
	}
	if fault {
		t.Errorf("%q: the page says %q", args, b.text("fault"))
		return
	}
	if got := b.file("csv"); got != want.String() {
		t.Errorf("%q: the page's CSV is\n%.400s\nthe command's\n%.400s", args, got, &want)
	}
	drawn, err := os.ReadFile(plot)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.file("svg"); got != string(drawn) {
		t.Errorf("%q: the page's plot is\n%.600s\nthe command's\n%.600s", args, got, drawn)
	}
	chi, numbers := b.text("chi"), b.text("status")
	if chi == "–" || !strings.HasPrefix(numbers, "VERIFIED") {
		t.Errorf("%q: χ %s, %s", args, chi, numbers)
	}
	t.Logf("%q: χ %s, %s", args, chi, numbers)
}

// Values have the digits of their type, and the picture shows the set that is counted.
func TestPageRoundsToTheType(t *testing.T) {
	b, address, _ := start(t)
	b.call("Page.navigate", map[string]any{"url": address})
	b.until(`typeof now !== "undefined" && (` + settled + `)`)
	path := filepath.Join(t.TempDir(), "image.npy")
	if err := os.WriteFile(path, npy("f4", []float32{4.9, 3e38, 4.9}, 1, 3), 0o666); err != nil {
		t.Fatal(err)
	}
	b.choose(path)
	b.eval(nil, `(e => (e.value = e.min, e.oninput({ target: e }), true))(document.getElementById("level"))`)
	b.until(settled)
	var level string
	b.eval(&level, `now.level`)
	if got, label := b.text("about"), "values 4.9 to 3e+38"; !strings.HasSuffix(got, label) || level != "4.9" {
		t.Errorf("the page says %q and level %s, want %q and 4.9", got, level, label)
	}
	if got, b0 := b.text("share"), b.text("b0"); got != "67 % of the image" || b0 != "2" {
		t.Errorf("the picture shows %s, and the set has %s components; want 67 %% and 2", got, b0)
	}
}

// Every control has a name and can be reached, nothing is wider than a phone, and the page works without a server.
func TestPageIsUsable(t *testing.T) {
	b, address, server := start(t)
	for _, size := range [][2]int{{1280, 900}, {390, 844}} {
		b.call("Emulation.setDeviceMetricsOverride",
			map[string]any{"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": size[0] < 500})
		b.call("Page.navigate", map[string]any{"url": address})
		b.until(`typeof now !== "undefined" && (` + settled + `)`)
		var wide int
		b.eval(&wide, `document.documentElement.scrollWidth`)
		if wide > size[0] {
			t.Errorf("the page is %d pixels wide, of %d", wide, size[0])
		}
		b.shoot(fmt.Sprintf("page-%d.png", size[0]))
	}
	b.named()
	b.tabs()
	b.masks()
	b.eval(nil, `navigator.serviceWorker.ready.then(() => new Promise(done => {
		const look = () => caches.match("eccbench.wasm.gz").then(found => found ? done(true) : setTimeout(look, 20));
		look();
	}))`)
	server.CloseClientConnections()
	server.Close()
	b.call("Page.reload", nil)
	b.until(`typeof now !== "undefined" && (` + settled + `)`)
	if text := b.text("status"); !strings.HasPrefix(text, "VERIFIED") {
		t.Errorf("without a server: %q, %q", text, b.text("fault"))
	}
}

// Prints the times from the choice of 256³ bytes to the verified curve, and to the numbers of a
// set.
func TestPageIsFast(t *testing.T) {
	b, address, _ := start(t)
	b.call("Page.navigate", map[string]any{"url": address})
	b.until(`typeof now !== "undefined" && (` + settled + `)`)
	const n = 256
	data, state := make([]uint8, n*n*n), uint32(1)
	for i := range data {
		state = state*1664525 + 1013904223
		data[i] = uint8(state >> 24)
	}
	path := filepath.Join(t.TempDir(), "noise.npy")
	if err := os.WriteFile(path, npy("u1", data, n, n, n), 0o666); err != nil {
		t.Fatal(err)
	}
	b.choose(path)
	t.Logf("the curve: %s", b.text("status"))
	var milliseconds float64
	b.eval(&milliseconds, `(async () => {
		const from = performance.now();
		await now.image.ask({ what: "set", ...options() }, "100");
		return performance.now() - from;
	})()`)
	t.Logf("the Betti numbers at a level: %.2f s", milliseconds/1000)
	if fault := b.text("fault"); fault != "" {
		t.Error(fault)
	}
}

// named requires that all controls have names for screen readers.
func (b *browser) named() {
	b.t.Helper()
	named := strings.Fields("button slider radio checkbox textbox spinbutton link image img")
	controls := 0
	for _, n := range b.call("Accessibility.getFullAXTree", nil)["nodes"].([]any) {
		node := n.(map[string]any)
		value := func(key string) string {
			v, _ := node[key].(map[string]any)
			text, _ := v["value"].(string)
			return text
		}
		role := value("role")
		if !slices.Contains(named, role) {
			continue
		}
		if controls++; value("name") == "" && node["ignored"] != true {
			b.t.Errorf("a %s has no name: %v", role, node)
		}
	}
	if controls < 15 {
		b.t.Errorf("only %d controls are told to screen readers", controls)
	}
}

// tabs walks through the page by the keyboard, and moves the level by it.
func (b *browser) tabs() {
	b.t.Helper()
	key := func(name string, code int) {
		for _, kind := range []string{"keyDown", "keyUp"} {
			b.call("Input.dispatchKeyEvent",
				map[string]any{"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code})
		}
	}
	var order []string
	b.eval(nil, `document.body.focus(), scrollTo(0, 0), true`)
	for range 40 {
		key("Tab", 9)
		var at string
		b.eval(&at, `(e => e.id || e.name || e.className || e.textContent)(document.activeElement)`)
		if len(order) > 0 && at == order[0] || at == "" {
			break
		}
		order = append(order, at)
	}
	want := []string{"skip", "files", "level", "levelText", "set", "construction", "csv", "svg"}
	at := -1
	for _, w := range want {
		i := slices.Index(order, w)
		if i <= at {
			b.t.Errorf("the keyboard does not reach %s after what is before it: %q", w, order)
		}
		at = i
	}
	before := b.text("chi")
	b.eval(nil, `document.getElementById("level").focus()`)
	for range 20 {
		key("ArrowLeft", 37)
	}
	b.until(settled)
	if after := b.text("chi"); after == before {
		b.t.Errorf("20 levels lower χ is still %s", after)
	}
}

// masks opens an image with NaN, and leaves them out by the button that its error has.
func (b *browser) masks() {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "gaps.npy")
	data := npy("f4", []float32{1, float32(math.NaN()), 2, 3, 4, 5}, 2, 3)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		b.t.Fatal(err)
	}
	b.choose(path)
	b.eval(nil, `document.querySelector("#fault button").click()`)
	b.until(settled)
	if text := b.text("status"); !strings.HasPrefix(text, "VERIFIED: 3 levels") {
		b.t.Errorf("with NaN left out: %q, %q", text, b.text("fault"))
	}
}

// shoot writes a screenshot of the whole page to the folder that ECCBENCH_WEB_SHOTS names.
func (b *browser) shoot(name string) {
	folder := os.Getenv("ECCBENCH_WEB_SHOTS")
	if folder == "" {
		return
	}
	shot := b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true})
	data, err := base64.StdEncoding.DecodeString(shot["data"].(string))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), data, 0o666)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
