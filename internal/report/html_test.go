package report

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"image"
	_ "image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"eccbench/internal/bench"
)

// testPage has two files that share cells, every status, a gate, and names that
// would be markup.
func testPage(t *testing.T) (Page, string) {
	t.Helper()
	a, b := sorting(), faster(1.25)
	for i := range 3 { // sizes for a plot
		for _, c := range slices.Clone(a.Cells[:6]) {
			c.Input, c.Cost.Items, c.Cost.Size = c.Input+strings.Repeat("1", i+1), c.Cost.Items<<(i+1), strings.Repeat("n", i+2)
			a.Cells = append(a.Cells, c)
		}
	}
	a.Cells[11].Reason = `too many <script>alert("numbers")</script> & more`
	point, lo, hi := 0.51, 0.4, 0.6
	number := func(text string, v float64) QuoteCell { return QuoteCell{text, &v} }
	p := Page{
		Title: "sorting", Ceiling: "read",
		Files: []PageFile{{"a.jsonl", []byte("raw a\n"), a}, {"b.jsonl", []byte("raw b\n"), b}},
		Quotes: []Quote{{Title: "Hoare, table 1", About: []string{"on a 405"}, Sections: []QuoteSection{{
			Title: "from drums", Header: []string{"implementation", "published", "here", "× published"},
			Rows: []QuoteRow{
				{"quick", []QuoteCell{{Text: "quick"}, number("30.0 ms", 0.03), number("4.0 ms", 0.004), number("7.50", 7.5)}, ""},
				{"twice", []QuoteCell{{Text: "twice"}, number("9.0 s", 9), number("1.0 s", 1), number(NotComparable, 0)}, "no drum"},
				{"nobody", []QuoteCell{{Text: "nobody"}, number("1.0 s", 1), number("not run", 0), number("—", 0)}, ""},
			},
			Notes: []string{"two drums"},
		}}}},
		Gate: &Judgement{Verdict: "REGRESSION", Reason: "1 of 2 cells", Noise: "noise of the gate", Raw: []byte("{}"), Changes: []Change{
			{Impl: "quick", Input: "in", Scope: "e2e", Decision: "REGRESSION", Effect: 0.03, Change: &point, Lo: &lo, Hi: &hi},
			{Impl: "liar", Input: "in", Scope: "e2e", Decision: "WRONG", Reason: "place 3", Reproduce: "again", Effect: 0.03},
		}},
	}
	var out bytes.Buffer
	if err := HTML(&out, p); err != nil {
		t.Fatal(err)
	}
	return p, out.String()
}

func TestHTML(t *testing.T) {
	p, page := testPage(t)
	for _, want := range []string{
		"<strong>Gate: REGRESSION</strong>: 1 of 2 cells", "noise of the gate", "Noise floor: half of the numbers",
		" VERIFIED, 2 WRONG", "<th scope=\"row\">CPU</th><td>A CPU</td>",
		"+51.0 % [40.0, 60.0]", "liar in: WRONG: place 3", "liar in: WRONG: again", "Comparison: rate of b.jsonl over that of a.jsonl", "1.250× [",
		"reproduce: <code>sorter verify --impl liar</code>", "the worker ended with signal: killed", "(ceiling)",
		"<h2>Hoare, table 1</h2>", "<li>on a 405</li>", "<caption>from drums</caption>", "<li>two drums</li>",
		`<tr data-impl="quick"><td>quick</td><td class="number" data-value="0.03">30.0 ms</td><td class="number" data-value="0.004">4.0 ms</td><td class="number" data-value="7.5">7.50</td></tr>`,
		`<td class="why" data-value="0">not comparable: no drum</td>`,
	} {
		if !strings.Contains(html.UnescapeString(page), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, `<script>alert`) || !strings.Contains(page, `&lt;script&gt;alert`) {
		t.Error("a reason is markup")
	}
	// Nothing is fetched: every address is the page's own, or a namespace's name.
	for _, m := range regexp.MustCompile(`(?:href|src|url)\s*[=(]\s*"?([^"\s)>]+)`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %s", m[1])
		}
	}
	for _, f := range p.Files {
		data := regexp.MustCompile(`download="` + f.Name + `" href="data:application/jsonl;base64,([^"]+)"`).FindStringSubmatch(page)
		if data == nil {
			t.Errorf("%s cannot be downloaded", f.Name)
			continue
		}
		if raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(data[1], "&#43;", "+")); err != nil || !bytes.Equal(raw, f.Raw) {
			t.Errorf("%s is downloaded as %q, %v", f.Name, raw, err)
		}
	}
	// A gate's page without other results names the compared programs and the machine.
	p.Files = nil
	p.Gate.About, p.Gate.Run = []string{"Candidate new over base old."}, bench.RunRecord{ID: "gate", Machine: bench.Machine{CPU: "the gate's CPU"}}
	p.Gate.Changes[0].Notes = []string{"about --blocks 12 would settle it"}
	var gate bytes.Buffer
	if err := HTML(&gate, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Candidate new over base old.", "the gate's CPU", "would settle it", `<main id="tables">`, `<fieldset id="filter"`} {
		if !strings.Contains(html.UnescapeString(gate.String()), want) {
			t.Errorf("the gate's page lacks %q", want)
		}
	}
	var empty bytes.Buffer
	if err := HTML(&empty, Page{Title: "none", Files: []PageFile{{Records: bench.Records{}}}}); err != nil || strings.Contains(empty.String(), "Throughput") {
		t.Errorf("a page of nothing: %v", err)
	}
}

// The output of the template, except plots, quotes and the contents of files.
func TestPageView(t *testing.T) {
	p, _ := testPage(t)
	v, err := viewPage(p)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n%q\n%s\n%s\n%q\n", v.Title, v.Statuses, v.Noise, v.Machines, v.Impls)
	for _, table := range v.Tables {
		fmt.Fprintf(&b, "\n%s, %s\n", table.Title, table.Unit)
		for _, r := range table.Rows {
			fmt.Fprintf(&b, "%s %s %s | %s | %s | %s | %s | %.4g %.4g %.4g\n", r.Impl, r.Size, r.Status, r.Shown, r.OfCeiling, r.Over, r.Joined, r.SortRate, r.SortCeiling, r.SortSpeedup)
		}
	}
	for _, f := range v.Forests {
		fmt.Fprintf(&b, "\n%s: %s (%s, %s)\n%q\n", f.Title, f.Header, f.Low, f.High, f.Notes)
		for _, r := range f.Rows {
			fmt.Fprintf(&b, "%s %s %s | %s | %s | %.4g\n", r.Name, r.Input, r.Scope, r.Decision, r.Text, r.Sorted())
		}
	}
	for _, r := range v.Unmeasured {
		fmt.Fprintf(&b, "\n%s %s %s: %s", r.Impl, r.Size, r.Status, r.Reason)
	}
	for _, d := range v.Downloads {
		fmt.Fprintf(&b, "\n%s, %s", d.Name, d.Size)
	}
	golden(t, "page.text", b.Bytes())
}

// The noise floor has the median and the greatest width of the existing intervals.
func TestNoiseFloor(t *testing.T) {
	rows := []Row{{Rate: 100, Lo: 98, Hi: 101}, {Rate: 10, Lo: 9, Hi: 10.1}, {Rate: 4, Lo: 3.98, Hi: 4.04}, {Rate: 7, Lo: 0, Hi: math.Inf(1)}, {Rate: 5, Lo: 5, Hi: 5}, {}}
	if got, want := noiseFloor(rows), "half of the numbers are known to ±2.0 % or better, the worst to ±10 %."; !strings.HasPrefix(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
	if got := noiseFloor(rows[3:]); got != "" {
		t.Errorf("of no interval: %s", got)
	}
}

// probe is the script that tries actions in the browser, and reports them in the document.
const probe = `<script>
const out = {};
const table = document.querySelector("table.sortable:not(.ratios)");
const cells = column => [...table.tBodies[0].rows].map(r => r.cells[column].textContent);
const first = table.tHead.rows[0].cells[0].querySelector("button");
first.click(); out.words = cells(0); first.click(); out.back = cells(0);
const ratios = document.querySelector("table.ratios"), by = ratios.tHead.rows[0].cells[2].querySelector("button");
by.click(); out.ratios = [...ratios.tBodies[0].rows].map(r => r.cells[2].dataset.value);
const names = () => [...table.tBodies[0].rows].map(r => r.cells[3].dataset.value);
const rate = table.tHead.rows[0].cells[3].querySelector("button");
rate.focus(); out.focus = document.activeElement === rate;
rate.click(); out.up = names(); out.sort = table.tHead.rows[0].cells[3].getAttribute("aria-sort");
rate.click(); out.down = names();
const shown = n => [...document.querySelectorAll('[data-impl="' + n + '"]')].filter(r => r.getClientRects().length > 0).length;
out.before = shown("quick"); out.others = shown("twice");
document.querySelector('#filter input[value="quick"]').click();
out.after = shown("quick"); out.left = shown("twice"); out.nobody = shown("nobody");
const quote = document.querySelector("table.quote");
quote.tHead.rows[0].cells[1].querySelector("button").click();
out.quoted = [...quote.tBodies[0].rows].map(r => r.cells[1].textContent);
const stops = [...document.querySelectorAll("a, button, input, [tabindex]")];
out.order = stops.every(e => e.tabIndex === 0) && stops[0].className === "skip" && stops[0].getAttribute("href") === "#tables";
out.said = document.getElementById("said").textContent;
out.labels = [...document.querySelectorAll("button, input, a")].every(e => (e.textContent || e.labels[0].textContent).trim() !== "");
const pre = document.createElement("pre"); pre.id = "probe"; pre.textContent = JSON.stringify(out); document.body.append(pre);
</script></body>`

// The page works in a browser, in the light and in the dark.
func TestHTMLInChromium(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("ECCBENCH_REQUIRE_CHROMIUM") == "1" {
			t.Fatal(err)
		}
		t.Skipf("the page is tried in Chromium: %v", err)
	}
	_, page := testPage(t)
	dir := t.TempDir()
	show := func(name, text string, args ...string) (stdout, stderr string) {
		t.Helper()
		path := filepath.Join(dir, name+".html")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(chromium, append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(dir, "profile"),
			"--enable-logging=stderr", "--window-size=1200,900"}, append(args, "file://"+path)...)...)
		var out, log bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &log
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, &log)
		}
		return out.String(), log.String()
	}
	console := func(log string) []string { return regexp.MustCompile(`(?m)^.*CONSOLE.*$`).FindAllString(log, -1) }

	dom, log := show("probe", strings.Replace(page, "</body>", probe, 1), "--dump-dom")
	if c := console(log); len(c) > 0 {
		t.Errorf("the console says %q", c)
	}
	var got struct {
		Focus, Labels               bool
		Up, Down                    []string
		Sort, Said                  string
		Before, After, Others, Left int
		Nobody                      int
		Order                       bool
		Quoted, Words, Back, Ratios []string
	}
	found := regexp.MustCompile(`<pre id="probe">(.*?)</pre>`).FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("the script did not end:\n%s", log)
	}
	if err := json.Unmarshal([]byte(found[1]), &got); err != nil {
		t.Fatal(err)
	}
	if !got.Focus || !got.Labels || !got.Order {
		t.Errorf("by keyboard and screen reader: %+v", got)
	}
	up := slices.Clone(got.Up)
	slices.Reverse(up)
	if got.Sort != "ascending" || len(got.Up) < 5 || got.Up[0] != "0" || got.Up[0] == got.Down[0] || up[0] != got.Down[0] {
		t.Errorf("sorted: %s, up %v, down %v", got.Sort, got.Up, got.Down)
	}
	numbers := func(list []string) (out []float64) {
		for _, v := range list {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				t.Errorf("%q is no number: %v", v, err)
			}
			out = append(out, n)
		}
		return out
	}
	if !slices.IsSorted(numbers(got.Up)) || slices.IsSorted(got.Up) || !slices.IsSorted(numbers(got.Ratios)) || len(got.Ratios) < 2 {
		t.Errorf("sorted by number: rates %v (as words they must have another order), ratios %v", got.Up, got.Ratios)
	}
	words := slices.Clone(got.Words)
	slices.Reverse(words)
	if !slices.IsSortedFunc(got.Words, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }) || len(got.Words) < 5 || got.Back[0] != words[0] {
		t.Errorf("sorted by implementation: %v, back %v", got.Words, got.Back)
	}
	if got.Before == 0 || got.After != 0 || got.Others == 0 || got.Left != got.Others || strings.Contains(got.Said, "quick") {
		t.Errorf("filtered: %+v", got)
	}
	// A row of an implementation that has no box is no box's to hide.
	if got.Nobody != 1 || !slices.Equal(got.Quoted, []string{"30.0 ms", "1.0 s", "9.0 s"}) {
		t.Errorf("the quoted table: %d rows of nobody, sorted %v", got.Nobody, got.Quoted)
	}
	// On paper there is nothing to press, and nothing to scroll.
	dom, _ = show("print", strings.Replace(strings.Replace(page, "@media print", "@media all", 1), "</body>", `<script>
const pre = document.createElement("pre"); pre.id = "probe";
pre.textContent = getComputedStyle(document.getElementById("filter")).display + " " + getComputedStyle(document.querySelector(".scroll")).overflow
  + " " + getComputedStyle(document.querySelector("th button"), "::after").display + " " + getComputedStyle(document.querySelector("table")).breakInside;
document.body.append(pre);</script></body>`, 1), "--dump-dom")
	if !strings.Contains(dom, `<pre id="probe">none visible none avoid</pre>`) {
		t.Errorf("printed: %s", regexp.MustCompile(`<pre id="probe">.*?</pre>`).FindString(dom))
	}
	// An error must appear in the console, or this test detects nothing.
	if _, log := show("broken", strings.Replace(page, "</body>", "<script>nobody()</script><img src='https://example.org/x.png'></body>", 1), "--dump-dom"); len(console(log)) < 2 {
		t.Errorf("a broken page leaves the console silent:\n%s", log)
	}
	brightness := map[string]int{}
	for name, scheme := range map[string]string{"light": "1", "dark": "0"} {
		shot := filepath.Join(dir, name+".png")
		show(name, page, "--screenshot="+shot, "--blink-settings=preferredColorScheme="+scheme)
		f, err := os.Open(shot)
		if err != nil {
			t.Fatal(err)
		}
		img, _, err := image.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		colours := map[[3]uint32]bool{}
		ink := 0
		corner, _, _, _ := img.At(2, 2).RGBA()
		for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
			for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
				r, g, b, _ := img.At(x, y).RGBA()
				colours[[3]uint32{r, g, b}] = true
				if max(r, corner)-min(r, corner) > 0x4000 {
					ink++
				}
			}
		}
		brightness[name] = int(corner >> 8)
		if total := img.Bounds().Dx() * img.Bounds().Dy(); len(colours) < 50 || ink < total/100 || ink > total/2 {
			t.Errorf("%s: %d colours, %d of %d points are ink", name, len(colours), ink, total)
		}
	}
	if brightness["light"] < 240 || brightness["dark"] > 40 {
		t.Errorf("the paper is %v", brightness)
	}
}
