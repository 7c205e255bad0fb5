package main

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	textLine = regexp.MustCompile(`(?m)^TEXT ·(\w+)\(SB\)`)
	// An instruction with its operands, separated by a comma and a space.
	instruction = regexp.MustCompile(`^\t([A-Z][A-Z0-9.]*)(?:\s+(.*))?$`)
	maskOperand = regexp.MustCompile(`^K[1-7]$`)
)

// ofNoAnswer lists prefixes of instructions that affect only speed.
var ofNoAnswer = []string{"VZEROUPPER", "PREFETCH", "RET", "PCALIGN", "NOP"}

// swapped lists pairs of instruction prefixes to exchange.
var swapped = [][2]string{
	{"VPMINU", "VPMAXU"}, {"VPMINS", "VPMAXS"}, {"VMINPS", "VMAXPS"}, {"VPADD", "VPSUB"}, {"VPCMPEQ", "VPCMPGT"},
	{"KAND", "KOR"}, {"VPAND", "VPOR"}, {"JZ", "JNZ"}, {"JE", "JNE"}, {"JL", "JGE"},
	{"JG", "JLE"}, {"JB", "JAE"}, {"JC", "JNC"},
	{"ADDQ", "SUBQ"}, {"VADDP", "VSUBP"}, {"VMULP", "VADDP"},
}

// argument matches an instruction that loads an argument into a register.
var argument = regexp.MustCompile(`^MOV[A-Z]+\s+(\w+)\+\d+\(FP\), (\w+)$`)

// passed returns the registers in which Go passes the arguments of a function, from the list in its
// comment. The wrapper that copies arguments to the stack does not clear these registers. So code
// that does not load an argument still finds it there.
func passed(comment, name string) map[string]string {
	_, list, ok := strings.Cut(comment, "// func "+name+"(")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, "\n")
	if end := strings.LastIndexByte(list, ')'); end >= 0 {
		list = list[:end]
	}
	whole, floats := []string{"AX", "BX", "CX", "DI", "SI", "R8", "R9", "R10", "R11"}, 0
	in := map[string]string{}
	for _, parameter := range strings.Split(list, ", ") {
		name, typ, _ := strings.Cut(parameter, " ")
		switch {
		case strings.HasPrefix(typ, "float"):
			in[name] = "X" + strconv.Itoa(floats)
			floats++
		case strings.HasPrefix(typ, "["): // in several registers, or on the stack
			return in
		case len(whole) > 0:
			in[name] = whole[0]
			whole = whole[1:]
		}
	}
	return in
}

// bounds returns the begin and end of a function in assembly.
func bounds(text, name string) (start, end int) {
	all := textLine.FindAllStringSubmatchIndex(text, -1)
	for i, m := range all {
		if text[m[2]:m[3]] != name {
			continue
		}
		end = len(text)
		if i+1 < len(all) {
			end = all[i+1][0]
		}
		if data := strings.Index(text[m[0]:end], "\nDATA "); data >= 0 { // data belongs to all functions
			end = m[0] + data + 1
		}
		// Comments before the next function belong to it.
		for {
			line := strings.LastIndexByte(strings.TrimRight(text[:end], "\n"), '\n') + 1
			if line <= m[0] || !strings.HasPrefix(text[line:], "//") {
				return m[0], end
			}
			end = line
		}
	}
	return -1, -1
}

// rename adds a suffix to the name of a function in assembly.
func rename(text, name, suffix string) string {
	start, _ := bounds(text, name)
	at := start + len("TEXT ·") + len(name)
	return apply(text, edit{at, at, suffix})
}

// body returns the code of an assembly function with an edit and a suffix added to its name.
func (f *function) body(suffix string, e edit) string {
	at := len("TEXT ·") + len(f.decl.Name.Name)
	e.start, e.end = e.start-f.start, e.end-f.start
	return apply(f.code, edit{at, at, suffix}, e)
}

// asmMutants returns all mutants of a package's assembly files whose names contain part.
func (p *Package) asmMutants(part string) []*Mutant {
	var all []*Mutant
	for _, f := range p.files {
		for _, d := range f.tree.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body != nil {
				continue
			}
			for name, text := range p.assembly {
				start, end := bounds(text, decl.Name.Name)
				if start < 0 || !strings.Contains(path.Base(name), part) {
					continue
				}
				fn := &function{file: f, decl: decl, asm: name, code: text[start:end], start: start}
				for _, m := range asmWithin(text, name, decl.Name.Name) {
					m.function = fn
					all = append(all, m)
				}
			}
		}
	}
	return all
}

// asmWithin returns the mutants of a function: each deletes an instruction, removes a mask, or
// replaces an instruction by its opposite.
func asmWithin(text, file, name string) []*Mutant {
	var all []*Mutant
	start, end := bounds(text, name)
	at := start
	registers, fetched := passed(text[:max(start, 0)], name), hints(text[start:end])
	for _, line := range strings.SplitAfter(text[start:end], "\n") {
		from := at
		at += len(line)
		line = strings.TrimSuffix(line, "\n")
		m := instruction.FindStringSubmatch(line)
		if m == nil || begins(m[1], ofNoAnswer...) {
			continue
		}
		if a := argument.FindStringSubmatch(m[1] + " " + m[2]); a != nil &&
			registers[a[1]] == a[2] && untouched(text[start:from], a[2]) {
			continue
		}
		if to := m[2][strings.LastIndexByte(m[2], ' ')+1:]; fetched[to] {
			continue
		}
		add := func(operator, with string) {
			m := newMutant(text, file, name, operator, edit{from, from + len(line), with})
			// Equal instructions are distinguished by the adjacent lines.
			m.Before = inContext(text[:from], m.Before, text[at:])
			m.After = inContext(text[:from], m.After, text[at:])
			all = append(all, m)
		}
		add("deletion", "\tNOP")
		operands := strings.Split(m[2], ", ")
		n := len(operands)
		mnemonic, _, _ := strings.Cut(m[1], ".")
		// Only a gather needs its mask.
		if begins(mnemonic, "V") && !begins(mnemonic, "VPGATHER") && n >= 3 && maskOperand.MatchString(operands[n-2]) {
			rest := append(append([]string{}, operands[:n-2]...), operands[n-1])
			add("mask", "\t"+mnemonic+" "+strings.Join(rest, ", "))
		}
		if strings.HasPrefix(mnemonic, "VPAND") && n == 3 && operands[1] != operands[2] && strings.Contains(operands[0], "(") {
			add("mask", "\tVMOVDQU "+operands[1]+", "+operands[2])
		}
		for _, s := range swapped {
			for i := range s {
				if strings.HasPrefix(m[1], s[i]) && (s[i][0] != 'J' || m[1] == s[i]) && !begins(m[1], "VPANDN", "KANDN", "KORTEST") {
					add("swap", "\t"+s[1-i]+strings.TrimPrefix(m[1], s[i])+" "+m[2])
				}
			}
		}
	}
	return all
}

// hints returns the registers of a function that are used only for prefetching: they share no part
// with other registers, and no jump depends on them.
func hints(code string) map[string]bool {
	var lines [][]string // a mnemonic and operands
	found := map[string]bool{}
	for _, line := range strings.Split(code, "\n") {
		m := instruction.FindStringSubmatch(line)
		if m == nil || begins(m[1], "PREFETCH") {
			continue
		}
		lines = append(lines, append([]string{m[1]}, strings.Split(m[2], ", ")...))
		for _, r := range plainRegister.FindAllString(m[2], -1) {
			found[r] = true
		}
	}
	for again := true; again; {
		again = false
		for i, l := range lines {
			flags := !begins(l[0], "MOV", "LEA") && i+1 < len(lines) && !begins(lines[i+1][0], "MOV", "V", "ADD", "SUB", "LEA")
			if found[l[len(l)-1]] && !flags {
				continue
			}
			for _, r := range plainRegister.FindAllString(strings.Join(l[1:], ", "), -1) {
				again = again || found[r]
				delete(found, r)
			}
		}
	}
	return found
}

// plainRegister matches a register that instructions name explicitly.
var plainRegister = regexp.MustCompile(`\bR[0-9]+\b`)

// untouched reports whether no instruction has a register, or a wider one that contains it, as its
// last operand.
func untouched(code, register string) bool {
	names := []string{register}
	if n, vector := strings.CutPrefix(register, "X"); vector {
		names = append(names, "Y"+n, "Z"+n)
	}
	for _, line := range strings.Split(code, "\n") {
		words := strings.Fields(line)
		if len(words) > 1 && slices.Contains(names, words[len(words)-1]) {
			return false
		}
	}
	return true
}

// inContext returns a line together with the lines before and after it.
func inContext(before, line, after string) string {
	before = strings.TrimSuffix(before, "\n")
	before = before[strings.LastIndexByte(before, '\n')+1:]
	after, _, _ = strings.Cut(after, "\n")
	return squeeze(before) + "; " + line + "; " + squeeze(after)
}

func begins(s string, with ...string) bool {
	for _, w := range with {
		if strings.HasPrefix(s, w) {
			return true
		}
	}
	return false
}
