package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// A Package is a package of the real program, with the replacements of its files.
type Package struct {
	dir, path string // below the root; import path
	name      string
	files     []*sourceFile
	assembly  map[string]string // contents by file name
	importer  types.Importer
	fset      *token.FileSet
}

type sourceFile struct {
	name string // path below the root
	text string
	tree *ast.File
}

// A function has mutants that are selected when the program runs. A switch at the beginning of its
// body selects one. The declaration of an assembly function gets a body with this switch.
type function struct {
	index int // from 1; the number in the report of reached functions
	file  *sourceFile
	decl  *ast.FuncDecl
	asm   string // the file of its code, if that is assembly
	code  string // this code
	start int    // offset of the code in the file
}

func (f *function) name() string {
	if f.decl.Recv == nil {
		return f.decl.Name.Name
	}
	t := f.decl.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + f.decl.Name.Name
		default:
			return f.decl.Name.Name
		}
	}
}

// estimates reports whether a function of a workload only estimates a duration, or returns such a
// function.
func (f *function) estimates() bool {
	results := f.decl.Type.Results
	if results.NumFields() != 1 || !strings.HasPrefix(f.file.name, "impls/") && !strings.HasPrefix(f.file.name, "internal/workloads/") {
		return false
	}
	t := results.List[0].Type
	if of, ok := t.(*ast.FuncType); ok && of.Results.NumFields() == 1 {
		t = of.Results.List[0].Type
	}
	name, ok := t.(*ast.SelectorExpr)
	return ok && name.Sel.Name == "Duration"
}

// load reads the packages in folders below root, without tests, with the files that are built on
// this machine.
func load(root string, dirs []string) (map[string]*Package, error) {
	// The imports of the file of the selected mutant are included.
	args := []string{"list", "-export", "-deps", "-json=Dir,ImportPath,Name,GoFiles,SFiles,Export", "os", "strconv", "sync"}
	for _, d := range dirs {
		args = append(args, "./"+d)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing packages: %w", err)
	}
	exports := map[string]string{}
	packages := map[string]*Package{}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l struct {
			Dir, ImportPath, Name, Export string
			GoFiles, SFiles               []string
		}
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[l.ImportPath] = l.Export
		dir, err := filepath.Rel(root, l.Dir)
		if dir = filepath.ToSlash(dir); err != nil || !slices.Contains(dirs, dir) {
			continue
		}
		p := &Package{dir: dir, path: l.ImportPath, name: l.Name,
			assembly: map[string]string{}, importer: imports, fset: fset}
		for _, name := range l.GoFiles {
			text, err := os.ReadFile(filepath.Join(l.Dir, name))
			if err != nil {
				return nil, err
			}
			f := &sourceFile{name: path.Join(dir, name), text: string(text)}
			if f.tree, err = parser.ParseFile(fset, f.name, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
				return nil, err
			}
			p.files = append(p.files, f)
		}
		for _, name := range l.SFiles {
			text, err := os.ReadFile(filepath.Join(l.Dir, name))
			if err != nil {
				return nil, err
			}
			p.assembly[path.Join(dir, name)] = string(text)
		}
		packages[dir] = p
	}
	for _, d := range dirs {
		if packages[d] == nil {
			return nil, fmt.Errorf("no package in %s", d)
		}
	}
	return packages, nil
}

func (p *Package) offset(pos token.Pos) int { return p.fset.Position(pos).Offset }

// swaps maps each operator to its replacement.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND,
	token.AND_NOT: token.AND,
	token.LAND:    token.LOR, token.LOR: token.LAND,
}

// kind returns the operator's name for reports.
func kind(t token.Token) string {
	switch t {
	case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
		return "relation"
	case token.LAND, token.LOR:
		return "logic"
	}
	return "arithmetic"
}

// mutants returns all mutants of the package's Go functions that have a body.
func (p *Package) mutants() []*Mutant {
	var all []*Mutant
	for _, f := range p.files {
		if ast.IsGenerated(f.tree) {
			continue
		}
		for _, d := range f.tree.Decls {
			if decl, ok := d.(*ast.FuncDecl); ok && decl.Body != nil && decl.Name.Name != "_" {
				all = append(all, p.within(&function{file: f, decl: decl})...)
			}
		}
	}
	return all
}

// within returns all mutants of the body of a function.
func (p *Package) within(fn *function) []*Mutant {
	var all []*Mutant
	add := func(operator string, from, to token.Pos, text string) {
		m := newMutant(fn.file.text, fn.file.name, fn.name(), operator, edit{p.offset(from), p.offset(to), text})
		m.function, m.estimate = fn, fn.estimates()
		all = append(all, m)
	}
	insert := func(operator string, x ast.Expr, before, after string) {
		text := fn.file.text[p.offset(x.Pos()):p.offset(x.End())]
		add(operator, x.Pos(), x.End(), before+text+after)
	}
	// The last statement of each loop body, without which few loops end, and the statement for
	// which a case waits.
	kept := map[ast.Stmt]bool{}
	remove := func(s ast.Stmt) {
		if !kept[s] {
			add("deletion", s.Pos(), s.End(), "")
		}
	}
	ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op]; ok {
				add(kind(n.Op), n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), other.String())
			}
		case *ast.UnaryExpr:
			if n.Op == token.NOT || n.Op == token.SUB {
				add("sign", n.OpPos, n.OpPos+1, "")
			}
		case *ast.BasicLit:
			if n.Kind == token.INT || n.Kind == token.FLOAT {
				insert("constant", n, "(", " + 1)")
				if n.Value != "0" {
					insert("constant", n, "(", " - 1)")
				}
			}
		case *ast.IfStmt:
			insert("negation", n.Cond, "!(", ")")
			insert("if false", n.Cond, "false && (", ")")
		case *ast.ForStmt:
			kept[n.Post] = true
		case *ast.CommClause:
			kept[n.Comm] = true
		case *ast.ExprStmt:
			remove(n)
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				remove(n)
			}
		case *ast.IncDecStmt, *ast.BranchStmt, *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
			remove(n.(ast.Stmt))
		case *ast.ReturnStmt:
			if len(n.Results) == 0 {
				remove(n)
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && (name.Name == "min" || name.Name == "max") {
				add("min and max", name.Pos(), name.End(), map[string]string{"min": "max", "max": "min"}[name.Name])
			}
		}
		return true
	})
	return all
}

// signature returns edits that name every parameter of a function, and a call of the function with
// suffix added to its name.
func (p *Package) signature(fn *function, suffix string) (edits []edit, call string) {
	var b strings.Builder
	name := func(list *ast.FieldList, prefix string, each func(name string, f *ast.Field)) {
		if list == nil {
			return
		}
		n := 0
		for _, f := range list.List {
			if len(f.Names) == 0 {
				n++
				id := prefix + strconv.Itoa(n)
				at := p.offset(f.Type.Pos())
				edits = append(edits, edit{at, at, id + " "})
				each(id, f)
			}
			for _, id := range f.Names {
				n++
				text := id.Name
				if text == "_" {
					text = prefix + strconv.Itoa(n)
					edits = append(edits, edit{p.offset(id.Pos()), p.offset(id.End()), text})
				}
				each(text, f)
			}
		}
	}
	name(fn.decl.Recv, "mutantReceiver", func(id string, _ *ast.Field) { b.WriteString(id + ".") })
	b.WriteString(fn.decl.Name.Name + suffix)
	if t := fn.decl.Type.TypeParams; t != nil {
		var ids []string
		for _, f := range t.List {
			for _, id := range f.Names {
				ids = append(ids, id.Name)
			}
		}
		b.WriteString("[" + strings.Join(ids, ", ") + "]")
	}
	var args []string
	name(fn.decl.Type.Params, "mutantParameter", func(id string, f *ast.Field) {
		if _, ok := f.Type.(*ast.Ellipsis); ok {
			id += "..."
		}
		args = append(args, id)
	})
	return edits, b.String() + "(" + strings.Join(args, ", ") + ")"
}

// suffix returns the suffix for the name of a function's copy.
func suffix(id int) string { return "_mutant" + strconv.Itoa(id) }

// dispatch returns the switch at the beginning of a function. It calls the selected mutant, and
// reports once that the function was reached.
func (p *Package) dispatch(fn *function, mutants []*Mutant) string {
	var b strings.Builder
	fmt.Fprintf(&b, " if eccmut != 0 { switch eccmut { case -1: eccmutReached(%d)", fn.index)
	for _, m := range mutants {
		_, call := p.signature(fn, suffix(m.ID))
		if fn.decl.Type.Results.NumFields() > 0 {
			fmt.Fprintf(&b, "; case %d: return %s", m.ID, call)
		} else {
			fmt.Fprintf(&b, "; case %d: %s; return", m.ID, call)
		}
	}
	return b.String() + "}}; "
}

// A span is the position of a mutant's copy of a function in a rewritten file.
type span struct {
	start, end int
	m          *Mutant
}

// rewrite returns the files that contain the mutants, by name, and the span of each mutant. Line
// numbers before the copies do not change.
func (p *Package) rewrite(mutants []*Mutant) (files map[string]string, spans map[string][]span) {
	files, spans = map[string]string{}, map[string][]span{}
	byFunction := map[*ast.FuncDecl][]*Mutant{}
	for _, m := range mutants {
		byFunction[m.function.decl] = append(byFunction[m.function.decl], m)
	}
	asm, renamed := map[string]*strings.Builder{}, map[string]string{} // copies, and the functions that they follow
	for _, f := range p.files {
		var edits []edit
		var copies []*Mutant
		for _, d := range f.tree.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || len(byFunction[decl]) == 0 {
				continue
			}
			ms := byFunction[decl]
			fn := ms[0].function
			names, _ := p.signature(fn, "")
			edits = append(edits, names...)
			if fn.asm == "" {
				at := p.offset(decl.Body.Lbrace) + 1
				edits = append(edits, edit{at, at, p.dispatch(fn, ms)})
				copies = append(copies, ms...)
				continue
			}
			// The copies do not get directives that are only valid for declarations.
			if decl.Doc != nil {
				for _, c := range decl.Doc.List {
					if strings.HasPrefix(c.Text, "//go:") {
						edits = append(edits, edit{p.offset(c.Pos()), p.offset(c.End()), "//"})
					}
				}
			}
			_, call := p.signature(fn, suffix(0))
			if decl.Type.Results.NumFields() > 0 {
				call = "return " + call
			}
			edits = append(edits, edit{p.offset(decl.End()), p.offset(decl.End()), " {" + p.dispatch(fn, ms) + call + " }"})
			copies = append(copies, &Mutant{function: fn})
			copies = append(copies, ms...)
			if asm[fn.asm] == nil {
				asm[fn.asm] = &strings.Builder{}
				renamed[fn.asm] = p.assembly[fn.asm]
			}
			renamed[fn.asm] = rename(renamed[fn.asm], decl.Name.Name, suffix(0))
		}
		if len(copies) == 0 {
			continue
		}
		b := strings.Builder{}
		b.WriteString(apply(f.text, edits...))
		for _, m := range copies {
			b.WriteString("\n\n")
			from := b.Len()
			b.WriteString(p.copied(m, asm))
			spans[f.name] = append(spans[f.name], span{from, b.Len(), m})
		}
		b.WriteString("\n")
		files[f.name] = b.String()
	}
	for name, copies := range asm {
		files[name] = renamed[name] + copies.String()
	}
	if len(mutants) > 0 {
		files[path.Join(p.dir, "eccmut_chosen.go")] = strings.ReplaceAll(chosen, "package chosen", "package "+p.name)
	}
	return files, spans
}

// copied returns the Go text of a mutant's function. For an assembly function it appends the code
// to asm.
func (p *Package) copied(m *Mutant, asm map[string]*strings.Builder) string {
	fn, decl := m.function, m.function.decl
	edits, _ := p.signature(fn, "")
	edits = append(edits, edit{p.offset(decl.Name.Pos()), p.offset(decl.Name.End()), decl.Name.Name + suffix(m.ID)})
	from := p.offset(decl.Type.Func)
	prefix := ""
	if fn.asm == "" {
		edits = append(edits, m.edit)
	} else {
		prefix = "//go:noescape\n"
		if m.ID != 0 {
			asm[fn.asm].WriteString("\n" + fn.body(suffix(m.ID), m.edit))
		}
	}
	text := apply(fn.file.text[:p.offset(decl.End())], edits...)
	return prefix + text[from:]
}

// chosen is the source of a package whose variable selects the mutant from the environment. 0
// selects none. −1 selects the program itself, which then writes the numbers of the reached
// functions to a file.
const chosen = `package chosen

import (
	"os"
	"strconv"
	"sync"
)

var eccmut = func() int { n, _ := strconv.Atoi(os.Getenv("ECCMUT")); return n }()

var eccmutSeen sync.Map

func eccmutReached(i int) {
	if _, again := eccmutSeen.LoadOrStore(i, true); again {
		return
	}
	if f, err := os.OpenFile(os.Getenv("ECCMUT_REACHED"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666); err == nil {
		f.WriteString(strconv.Itoa(i) + "\n")
		f.Close()
	}
}
`

// refused returns the mutants that do not compile.
func (p *Package) refused(mutants []*Mutant) (map[*Mutant]bool, error) {
	files, spans := p.rewrite(mutants)
	fset := token.NewFileSet()
	var trees []*ast.File
	bad := map[*Mutant]bool{}
	var elsewhere error
	report := func(name string, offset int, err error) {
		for _, s := range spans[name] {
			if s.start <= offset && offset < s.end {
				bad[s.m] = true
				return
			}
		}
		if elsewhere == nil {
			elsewhere = fmt.Errorf("%s, no mutant: %w", name, err)
		}
	}
	for _, f := range p.files {
		if files[f.name] == "" {
			files[f.name] = f.text
		}
	}
	for name, text := range files {
		if path.Ext(name) != ".go" {
			continue
		}
		tree, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("%s with its mutants: %w", name, err)
		}
		trees = append(trees, tree)
	}
	config := types.Config{
		Importer: p.importer, Sizes: types.SizesFor("gc", runtime.GOARCH),
		Error: func(err error) {
			if e, ok := err.(types.Error); ok {
				at := fset.Position(e.Pos)
				report(at.Filename, at.Offset, err)
			} else if elsewhere == nil {
				elsewhere = err
			}
		},
	}
	config.Check(p.path, fset, trees, nil)
	if len(bad) == 0 && elsewhere != nil {
		return nil, elsewhere
	}
	return bad, nil
}
