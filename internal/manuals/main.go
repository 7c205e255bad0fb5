// Command manuals writes the man pages of a program eccbench, and its completions for bash, zsh and fish, from what
// its --help prints:
//
//	manuals ECCBENCH FOLDER
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: manuals ECCBENCH FOLDER")
		os.Exit(64)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "manuals:", err)
		os.Exit(1)
	}
}

// A command is one command of the program, as its help describes it.
type command struct {
	name, brief, usage string
	flags              []flag
	examples           []string
}

// A flag has the type of its value, "" for a switch.
type flag struct{ short, name, value, text string }

var (
	listed   = regexp.MustCompile(`(?m)^  ([a-z]+)(?: \S+)*?  +(\S.*)$`)
	flagLine = regexp.MustCompile(`^ {2,6}(?:-(\w), )?--([\w-]+)(?: (\S+))?(?:  +(\S.*))?$`)
	cores    = regexp.MustCompile(`\(default \d+\)$`)
)

// write writes all files for a program to a folder.
func write(program, folder string) error {
	ask := func(args ...string) (string, error) {
		text, err := exec.Command(program, args...).Output()
		return string(text), err
	}
	help, err := ask("--help")
	if err != nil {
		return err
	}
	version, err := ask("--version")
	if err != nil {
		return err
	}
	commands, err := read(help, ask)
	if err != nil {
		return err
	}
	files := map[string]string{
		"man/man1/eccbench.1": overview(help, version, commands), "completions/eccbench.bash": bash(commands),
		"completions/_eccbench": zsh(commands), "completions/eccbench.fish": fish(commands),
	}
	for _, c := range commands {
		files["man/man1/eccbench-"+c.name+".1"] = c.page(version)
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// read lists the commands of the program's help, each with its own.
func read(help string, ask func(...string) (string, error)) (commands []command, err error) {
	_, list, found := strings.Cut(help, "\nCommands:\n")
	list, _, ends := strings.Cut(list, "\n\n")
	if !found || !ends {
		return nil, fmt.Errorf("the help has no list of commands:\n%s", help)
	}
	for _, m := range listed.FindAllStringSubmatch(list, -1) {
		if m[1] == "help" {
			continue
		}
		text, err := ask(m[1], "--help")
		if err != nil {
			return nil, fmt.Errorf("%s --help: %w", m[1], err)
		}
		c, err := parse(m[1], text)
		if err != nil {
			return nil, err
		}
		commands = append(commands, c)
	}
	return commands, nil
}

// parse reads the help of a command: its brief, then paragraphs with headings. Usage and examples have their own
// headings, and all other paragraphs list flags.
func parse(name, text string) (c command, err error) {
	brief, rest, _ := strings.Cut(text, "\n\nUsage:\n")
	c.name, c.brief = name, strings.TrimSuffix(strings.ReplaceAll(brief, "\n", " "), ".")
	usage, rest, _ := strings.Cut(rest, "\n\n")
	c.usage = strings.TrimSpace(usage)
	for paragraph := range strings.SplitSeq(strings.TrimRight(rest, "\n"), "\n\n") {
		heading, lines, _ := strings.Cut(paragraph, "\n")
		if heading != "Examples:" && heading != "More examples:" {
			if err := c.addFlags(lines); err != nil {
				return c, err
			}
			continue
		}
		for line := range strings.Lines(lines) {
			c.examples = append(c.examples, strings.TrimSpace(line))
		}
	}
	if c.usage == "" || len(c.examples) == 0 {
		return c, fmt.Errorf("the help of %s lacks its usage or examples:\n%s", name, text)
	}
	return c, nil
}

// addFlags reads a list of flags. Lines of a wrapped text are indented deeper than flags.
func (c *command) addFlags(lines string) error {
	for line := range strings.Lines(lines) {
		line = strings.TrimRight(line, "\n")
		n := len(c.flags)
		if m := flagLine.FindStringSubmatch(line); m != nil {
			c.flags = append(c.flags, flag{m[1], m[2], m[3], m[4]})
		} else if n > 0 && strings.HasPrefix(line, strings.Repeat(" ", 20)) {
			c.flags[n-1].text = strings.TrimSpace(c.flags[n-1].text + " " + strings.TrimSpace(line))
		} else {
			return fmt.Errorf("%s: %q is no line of a flag", c.name, line)
		}
	}
	for i := range c.flags {
		if f := &c.flags[i]; f.name == "threads" { // of this machine
			f.text = cores.ReplaceAllString(f.text, "(default all)")
		}
	}
	return nil
}

// roff escapes a text.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// top is the head of a page.
func top(name, version, brief string) string {
	return fmt.Sprintf(".TH \"%s\" 1 \"\" \"%s\"\n.SH NAME\n%s \\- %s\n",
		strings.ToUpper(name), roff(strings.TrimSpace(version)), roff(name), roff(brief))
}

// page is the man page of a command.
func (c command) page(version string) string {
	var b strings.Builder
	b.WriteString(top("eccbench-"+c.name, version, strings.ToLower(c.brief[:1])+c.brief[1:]))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n.SH OPTIONS\n", roff(c.usage))
	for _, f := range c.flags {
		head := "--" + f.name
		if f.short != "" {
			head = "-" + f.short + ", " + head
		}
		head = `\fB` + roff(head) + `\fR`
		if f.value != "" {
			head += ` \fI` + roff(f.value) + `\fR`
		}
		fmt.Fprintf(&b, ".TP\n%s\n%s\n", head, roff(f.text))
	}
	b.WriteString(".SH EXAMPLES\n.nf\n")
	for _, e := range c.examples {
		b.WriteString(roff(e) + "\n")
	}
	b.WriteString(".fi\n.SH SEE ALSO\n.BR eccbench (1)\n")
	return b.String()
}

// overview is the man page of the program.
func overview(help, version string, commands []command) string {
	var b strings.Builder
	b.WriteString(top("eccbench", version,
		"verified Euler characteristic curves and Betti numbers of images, and benchmarks"))
	intro, rest, _ := strings.Cut(help, "\n\nUsage:\n")
	usage, _, _ := strings.Cut(rest, "\n\n")
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n.SH DESCRIPTION\n%s\n.SH COMMANDS\n",
		roff(strings.ReplaceAll(usage, "  ", "")), roff(intro))
	for _, c := range commands {
		fmt.Fprintf(&b, ".TP\n.BR eccbench\\-%s (1)\n%s\n", c.name, roff(c.brief))
	}
	_, rest, _ = strings.Cut(help, "\n\nExit codes: ")
	codes, _, _ := strings.Cut(rest, "\n\n")
	fmt.Fprintf(&b, ".SH \"EXIT STATUS\"\n%s\n", roff(codes))
	return b.String()
}

// words are the names of the flags of a command.
func (c command) words() string {
	var names []string
	for _, f := range c.flags {
		names = append(names, "--"+f.name)
	}
	return strings.Join(names, " ")
}

// bash completes commands, their flags and files.
func bash(commands []command) string {
	var names []string
	cases := ""
	for _, c := range commands {
		names = append(names, c.name)
		cases += fmt.Sprintf("    %s) words='%s' ;;\n", c.name, c.words())
	}
	return fmt.Sprintf(`# bash completion of eccbench
_eccbench() {
  local current=${COMP_WORDS[COMP_CWORD]} words=
  if [[ $COMP_CWORD -eq 1 && $current != -* ]]; then
    COMPREPLY=($(compgen -W '%s' -- "$current"))
    return
  fi
  [[ $current == -* ]] || return
  case ${COMP_WORDS[1]} in
%s  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _eccbench eccbench
`, strings.Join(names, " "), cases)
}

// quoted is a text within quotes of a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// zsh completes commands and flags with their texts, and files.
func zsh(commands []command) string {
	escape := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`)
	list, cases := "", ""
	for _, c := range commands {
		list += "    " + quoted(c.name+":"+escape.Replace(c.brief)) + "\n"
		cases += fmt.Sprintf("    %s) _arguments", c.name)
		for _, f := range c.flags {
			spec := "--" + f.name
			if f.value != "" {
				spec += "="
			}
			spec += "[" + escape.Replace(f.text) + "]"
			if f.value != "" {
				spec += ":" + f.value + ":_files"
			}
			cases += " " + quoted(spec)
		}
		cases += " '*:file:_files' ;;\n"
	}
	return fmt.Sprintf(`#compdef eccbench
_eccbench() {
  local -a commands
  commands=(
%s  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words; (( CURRENT-- ))
  case $words[1] in
%s  esac
}
_eccbench "$@"
`, list, cases)
}

// fish completes commands and flags with their texts, and files.
func fish(commands []command) string {
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	var b strings.Builder
	b.WriteString("# fish completion of eccbench\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "complete -c eccbench -n __fish_use_subcommand -f -a %s -d %s\n", c.name, quote(c.brief))
		for _, f := range c.flags {
			more := ""
			if f.short != "" {
				more = " -s " + f.short
			}
			if f.value != "" {
				more += " -r"
			}
			fmt.Fprintf(&b, "complete -c eccbench -n '__fish_seen_subcommand_from %s' -l %s%s -d %s\n",
				c.name, f.name, more, quote(f.text))
		}
	}
	return b.String()
}
