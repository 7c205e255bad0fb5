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

// A Package is a package of the real program, and what its files will be replaced by.
type Package struct {
	dir, path string // below the root; to import
	name      string
	files     []*sourceFile
	assembly  map[string]string // text by the file's name
	importer  types.Importer
	fset      *token.FileSet
}

type sourceFile struct {
	name string // below the root
	text string
	tree *ast.File
}

// A function is one whose mutants are chosen when the program runs: by a switch that its
// body begins with, or by the body that is given to a declaration of assembly.
type function struct {
	index int // from 1, by which it says that it was reached
	file  *sourceFile
	decl  *ast.FuncDecl
	asm   string // the file that its code is in, if that is assembly
	code  string // that code
	start int    // where it begins in the file
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

// estimates says whether a workload's function tells how long something may take and nothing else, or is
// one that does.
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

// load reads the packages in folders below root, with the files that are built here, tests
// aside.
func load(root string, dirs []string) (map[string]*Package, error) {
	// With what the file of the chosen mutant imports.
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
		p := &Package{dir: dir, path: l.ImportPath, name: l.Name, assembly: map[string]string{}, importer: imports, fset: fset}
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

// swaps are the operators that another takes the place of.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.AND_NOT: token.AND,
	token.LAND: token.LOR, token.LOR: token.LAND,
}

// kind is the operator's name in reports.
func kind(t token.Token) string {
	switch t {
	case token.LSS, token.LEQ, token.GTR, token.GEQ, token.EQL, token.NEQ:
		return "relation"
	case token.LAND, token.LOR:
		return "logic"
	}
	return "arithmetic"
}

// mutants are all changes of the Go functions of the package that have a body.
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

// within are all changes of the body of a function.
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
	// What ends each round of a loop, without which few end, and what a case waits for.
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

// signature is what a function is declared and called with: edits that give a name to
// every parameter, and the call of the function that has suffix added to its name.
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

// suffix is added to the name of a function's copy.
func suffix(id int) string { return "_mutant" + strconv.Itoa(id) }

// dispatch is what a function begins with: it hands a call over to the mutant that was
// chosen, and says once that it was reached.
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

// A span is where a mutant's copy of a function is in a rewritten file.
type span struct {
	start, end int
	m          *Mutant
}

// rewrite makes the files that hold the mutants, by name, and says where each is. Numbers
// of lines before the copies stay.
func (p *Package) rewrite(mutants []*Mutant) (files map[string]string, spans map[string][]span) {
	files, spans = map[string]string{}, map[string][]span{}
	byFunction := map[*ast.FuncDecl][]*Mutant{}
	for _, m := range mutants {
		byFunction[m.function.decl] = append(byFunction[m.function.decl], m)
	}
	asm, renamed := map[string]*strings.Builder{}, map[string]string{} // copies, and what they follow
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
			// What only declarations may say goes to the copies.
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

// copied is the Go text of a mutant's function. That of assembly is added to asm.
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

// chosen is a package's variable that says which mutant runs, from the environment: 0 is
// none, and -1 the program itself, which then writes the numbers of the functions that are
// reached to a file.
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

// refused are the mutants that do not compile.
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
