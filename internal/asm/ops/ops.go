// Package ops has the operations that all generators share: the beginnings and ends of functions, their arguments,
// and vectors of both instruction sets.
package ops

import (
	"strings"
	"unicode/utf8"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Operands and registers of avo, so that a generator imports its instructions and this package alone.
type (
	F64           = operand.F64
	GPVirtual     = reg.GPVirtual
	I8            = operand.I8
	I32           = operand.I32
	LabelRef      = operand.LabelRef
	Mem           = operand.Mem
	Op            = operand.Op
	OpmaskVirtual = reg.OpmaskVirtual
	Register      = reg.Register
	U8            = operand.U8
	U32           = operand.U32
	U64           = operand.U64
	VecVirtual    = reg.VecVirtual
)

// Imm is a constant of the smallest size.
func Imm(x uint64) operand.Constant { return operand.Imm(x) }

// Func begins a function. Its documentation starts with the name; lines of more than 100 columns
// are broken.
func Func(name, signature string, doc ...string) {
	const columns = 100 - len("// ")
	build.TEXT(name, attr.NOSPLIT, signature)
	build.Pragma("noescape")
	doc[0] = name + " " + doc[0]
	var lines []string
	for _, text := range doc {
		for utf8.RuneCountInString(text) > columns {
			end := strings.LastIndexByte(string([]rune(text)[:columns+1]), ' ')
			lines, text = append(lines, text[:end]), text[end+1:]
		}
		lines = append(lines, text)
	}
	build.Doc(lines...)
}

// Arg returns an argument of 64 bits in a register.
func Arg(name string) GPVirtual {
	r := build.GP64()
	build.Load(build.Param(name), r)
	return r
}

// Address returns the memory of an argument.
func Address(name string) Mem {
	p, err := build.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return p.Addr
}

// End ends a function that used vectors.
func End(results ...Register) {
	build.VZEROUPPER()
	for i, r := range results {
		build.Store(r, build.ReturnIndex(i))
	}
	build.RET()
}

// Repeat counts n down, and jumps to a label until it is 0.
func Repeat(n Register, label string) {
	build.DECQ(n)
	build.JNZ(LabelRef(label))
}

// IfZero jumps to a label if n is 0.
func IfZero(n Register, label string) {
	build.TESTQ(n, n)
	build.JZ(LabelRef(label))
}

var tables = map[string]Mem{}

// Table returns a table of constants, which the functions of a file share by its name.
func Table[T uint8 | uint32 | int | float64](name string, values ...T) Mem {
	if m, ok := tables[name]; ok {
		return m
	}
	m := build.GLOBL(name, attr.RODATA|attr.NOPTR)
	for k, v := range values {
		switch v := any(v).(type) {
		case uint8:
			build.DATA(k, U8(v))
		case uint32:
			build.DATA(4*k, U32(v))
		case int:
			build.DATA(8*k, U64(uint64(v)))
		case float64:
			build.DATA(8*k, F64(v))
		}
	}
	tables[name] = m
	return m
}

// New returns a new register with the result of an instruction.
func New[R Register](register func() R, instruction any, operands ...Op) R {
	r := register()
	operands = append(operands, r)
	switch do := instruction.(type) {
	case func(Op, Op):
		do(operands[0], operands[1])
	case func(Op, Op, Op):
		do(operands[0], operands[1], operands[2])
	case func(Op, Op, Op, Op):
		do(operands[0], operands[1], operands[2], operands[3])
	case func(...Op):
		do(operands...)
	default:
		panic("not an instruction")
	}
	return r
}

// Advance adds a number to registers.
func Advance[R Register](by Op, registers ...R) {
	for _, r := range registers {
		build.ADDQ(by, r)
	}
}

// Minus returns a − b.
func Minus(a, b Register) GPVirtual {
	r := New(build.GP64, build.MOVQ, a)
	build.SUBQ(b, r)
	return r
}
