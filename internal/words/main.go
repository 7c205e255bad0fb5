// Command words checks the language of comments and documents: phrases that doc/design.md (Style) rules out, and lines
// of more than 120 columns. The longest quoted text of a line is not counted, since a reader searches for it whole. It
// prints each line with the rule it breaks, and ends with exit code 1 if there are any.
//
//	go run ./internal/words            # the whole tree; tests and device code may have wider lines
//	go run ./internal/words -base REV  # lines changed since a revision, unless they replace lines with the same fault
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"unicode/utf8"
)

// columns is the greatest width of a line.
const columns = 120

// A rule is a phrase to avoid, and what to write.
type rule struct {
	phrase *regexp.Regexp
	advice string
}

// rules are the phrases, in lower case.
var rules = []rule{
	{regexp.MustCompile(`\bwhat (is|are|was|were|an?|they|it|one|some|others?) `),
		"name the thing (a noun, not a clause)"},
	{regexp.MustCompile(`\b(those that|that which|for who|whoever|who (asks|has|reads|wants|writes|comes|waits))\b`),
		"name the person or thing"},
	{regexp.MustCompile(`\bso (many|much)\b`), "N, or the number of"},
	{regexp.MustCompile(`\bof which\b`), "two sentences"},
	{regexp.MustCompile(`\bbeside\b`), "next to, in addition to, or with"},
	{regexp.MustCompile(`\bby (itself|themselves)\b`), "alone, or separately"},
	{regexp.MustCompile(`\b(as it is to be|the same but for|alike)\b`), "equal, except, or similar"},
	{regexp.MustCompile(`\b(stands?|stood)( |[.,:;)]|$)`), "is"},
	{regexp.MustCompile(`\b(says?|said)\b`), "report, state, print or specify"},
	{regexp.MustCompile(`\b(comes? to|came to)\b`), "reach, become or amount to"},
}

var (
	code      = regexp.MustCompile("`[^`]*`")
	quoted    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|` + "`[^`]*`")
	generated = regexp.MustCompile(`_avx(2|512)_amd64\.(go|s)$|^kernels/ptx/|/testdata/|^reports/.*\.md$|` +
		`^internal/words/|^doc/(glossary|design|implementations)\.md$`)
	mayBeWide   = regexp.MustCompile(`_(test|amd64)\.go$|test/.*\.go$|^python/tests/|^scripts/differential/|\.(cu|h)$`)
	texts       = regexp.MustCompile(`\.(go|md|py|sh|cu|h|yaml)$|^Makefile$`)
	comment     = regexp.MustCompile(`(?:^|\s)(?://|#)\s(.*)`)
	widthDigits = regexp.MustCompile(`^\d+ `)
	// A row of a table, a generated part, a title and an address cannot be broken.
	unbreakable = regexp.MustCompile(`^(\||!\[|<!--|\*\*.*\*\*$)|://`)
	hunk        = regexp.MustCompile(`^@@ -\S+ \+(\d+)`)
)

func main() {
	base := flag.String("base", "", "check the lines changed since this revision (default: the whole tree)")
	flag.Parse()
	lines, err := changed(*base)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(64)
	}
	faults := faults(lines)
	fmt.Print(strings.Join(faults, ""))
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// A line is an added or removed line of a file.
type line struct {
	path    string
	number  int
	text    string
	removed bool
	hunk    int // of the diff

	mayBeWide bool
}

// faults describes the lines that break a rule more often than the removed lines of their hunk.
func faults(lines []line) (list []string) {
	type key struct {
		hunk int
		why  string
	}
	before := map[key]int{}
	for _, l := range lines {
		for _, why := range l.breaks() {
			k := key{l.hunk, widthDigits.ReplaceAllString(why, "")}
			switch {
			case l.removed:
				before[k]++
			case before[k] > 0:
				before[k]--
			default:
				list = append(list, fmt.Sprintf("%s:%d: %s\n\t%s\n", l.path, l.number, why, strings.TrimSpace(l.text)))
			}
		}
	}
	return list
}

// changed returns the lines added or removed since a revision, or all lines of the tree.
func changed(base string) ([]line, error) {
	whole := base == ""
	if whole {
		base = "4b825dc642cb6eb9a060e54bf8d69288fbee4904" // the empty tree
	}
	diff, err := git("diff", "--unified=0", "--no-renames", "--diff-filter=d", base)
	if err != nil {
		return nil, err
	}
	lines := parse(diff)
	for i := range lines {
		lines[i].mayBeWide = whole && mayBeWide.MatchString(lines[i].path)
	}
	return lines, nil
}

// git returns the output of a git command.
func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return string(out), nil
}

// parse returns the lines of a diff whose files hold text of people.
func parse(diff string) (lines []line) {
	path, number, hunks := "", 0, 0
	for _, text := range strings.Split(diff, "\n") {
		switch {
		case strings.HasPrefix(text, "+++ "):
			path = strings.TrimPrefix(text[4:], "b/")
		case hunk.MatchString(text):
			fmt.Sscan(hunk.FindStringSubmatch(text)[1], &number)
			hunks++
		case strings.HasPrefix(text, "--- "):
		case strings.HasPrefix(text, "+"), strings.HasPrefix(text, "-"):
			removed := text[0] == '-'
			if texts.MatchString(path) && !generated.MatchString(path) {
				lines = append(lines, line{path: path, number: number, text: text[1:], removed: removed, hunk: hunks})
			}
			if !removed {
				number++
			}
		}
	}
	return lines
}

// prose returns the part of a line that a person reads: Markdown except headings, or the comment of a program.
func (l line) prose() string {
	if strings.HasSuffix(l.path, ".md") {
		if strings.HasPrefix(l.text, "#") || strings.HasPrefix(l.text, "<!--") {
			return ""
		}
		return code.ReplaceAllString(l.text, "")
	}
	if m := comment.FindStringSubmatch(l.text); m != nil {
		return m[1]
	}
	return ""
}

// breaks returns the rules that a line breaks.
func (l line) breaks() (list []string) {
	prose := strings.ToLower(l.prose())
	for _, r := range rules {
		if found := r.phrase.FindString(prose); found != "" {
			list = append(list, fmt.Sprintf("%q: write %s", strings.TrimSpace(found), r.advice))
		}
	}
	if l.isTooWide() && !l.mayBeWide {
		list = append(list, fmt.Sprintf("%d columns: at most %d", l.width(), columns))
	}
	return list
}

// width is the number of columns without those of the longest quoted text.
func (l line) width() int {
	longest := 0
	for _, text := range quoted.FindAllString(l.text, -1) {
		longest = max(longest, utf8.RuneCountInString(text)-len(`""`))
	}
	return utf8.RuneCountInString(l.text) - longest
}

func (l line) isTooWide() bool { return l.width() > columns && !unbreakable.MatchString(l.text) }
