package terse

import (
	"bytes"
	"strings"
	"testing"
)

const compiledText = `// Generated  from a // source
//
.version 7.8
.visible .entry one(
	.param .u64 one_param_0
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<9>; // nine
	mov.u32 	%r7, %tid.x;
	{ .reg .b32 tmp; .reg .b64 %rhs; mov.b32 tmp, %r7; }
	setp.eq.s32 	%p2, %r7, 0;
	@%p2 bra 	$L__BB0_3;
	add.s32 	%r1, %r7, %r7;
$L__BB0_1:                              // =>This Inner Loop
	.pragma "nounroll";
	add.s32 	%r1, %r1, %r7;
	@%p2 bra 	$L__BB0_1;
$L__BB0_3:
	ret;
}
.visible .entry two()
{
	.reg .b32 	%r<3>;
	mov.u32 	%r2, a$L1;
	bra 	$L__BB1_3;
$L__BB1_3:
	ret;
}
`

const plainText = `// Generated  from a // source
.version 7.8
.visible .entry one(
.param .u64 one_param_0
)
{
.reg .pred %p<3>;
.reg .b32 %r<9>;
mov.u32 %r0,%tid.x;
{.reg .b32 tmp;.reg .b64 %rhs;mov.b32 tmp,%r0;}
setp.eq.s32 %p0,%r0,0;
@%p0 bra $L0;
add.s32 %r1,%r0,%r0;
$L1:
.pragma "nounroll";
add.s32 %r1,%r1,%r0;
@%p0 bra $L1;
$L0:
ret;
}
.visible .entry two()
{
.reg .b32 %r<3>;
mov.u32 %r0,a$L1;
bra $L2;
$L2:
ret;
}
`

func TestPlain(t *testing.T) {
	plain, err := Plain([]byte(compiledText))
	if err != nil || string(plain) != plainText {
		t.Errorf("%v\n%s", err, plain)
	}
	for _, bad := range []string{"x\n/* more */ ret;\n", "x\n.pragma \"a//b\";\n", "x\n.reg .b32 %r<3>;\nmov.u32 %r, 1;\n", "x\nbra $L4;\n"} {
		if plain, err := Plain([]byte(bad)); err == nil {
			t.Errorf("%q became %q", bad, plain)
		}
	}
}

func TestShort(t *testing.T) {
	short := string(Short([]byte(plainText)))
	for _, want := range []string{"mov.u32 %r,%tid.x;", "add.s32 %r,%r1,%r1;", "add.s32 %r0,%r0,%r1;", "@%p0 bra $L;", "\n$L:\n", "\n$L1:\n", "%rhs", "mov.u32 %r,a$L1;", "%r<9>"} {
		if !strings.Contains(short, want) {
			t.Errorf("no %q in\n%s", want, short)
		}
	}
	if long := Long([]byte(short)); string(long) != plainText {
		t.Errorf("it becomes\n%s", long)
	}
}

// The plain form of every text is restored from its short form.
func FuzzShort(f *testing.F) {
	f.Add([]byte(compiledText))
	f.Add([]byte("\n.reg .b32 %r<3>; %r0 %r1 %r2 %r<4> %r9 %r09 $L__BB0_1 $L__BB"))
	f.Fuzz(func(t *testing.T, text []byte) {
		plain, err := Plain(text)
		if err != nil {
			return
		}
		if long := Long(Short(plain)); !bytes.Equal(long, plain) {
			t.Errorf("%q becomes %q", plain, long)
		}
	})
}
