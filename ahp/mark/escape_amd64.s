#include "textflag.h"
#include "avx2_amd64.h"

// The control characters with a short escape, by their lower four bits: controls
// has the character, and names has its XOR with the letter of the escape.
DATA controls<>+0(SB)/8, $0xffffffffffffffff
DATA controls<>+8(SB)/8, $0xffff0d0cff0a0908
GLOBL controls<>(SB), RODATA, $16
DATA names<>+0(SB)/8, $0x0000000000000000
DATA names<>+8(SB)/8, $0x00007f6a00647d6a
GLOBL names<>(SB), RODATA, $16

// FIND sets marks to the bytes of x that need an escape, and c to the control
// characters. It overwrites t.
#define FIND(x, c, t, marks) \
	VPMINUB   x, Y12, c; \
	VPCMPEQB  x, c, c;   \ // at most the last control character
	VPCMPEQB  x, Y14, t; \
	VPOR      c, t, t;   \
	VPCMPEQB  x, Y13, Y4; \
	VPOR      Y4, t, t;  \
	VPMOVMSKB t, marks

// NAME replaces the control characters c of x by the letters of their short
// escapes, and sets long to those that have none. It overwrites t.
#define NAME(x, c, t, long) \
	VPSHUFB   x, Y11, t; \
	VPCMPEQB  x, t, t;   \ // has a short escape
	VPANDN    c, t, c;   \
	VPMOVMSKB c, long;   \
	VPSHUFB   x, Y10, c; \
	VPAND     c, t, t;   \
	VPXOR     t, x, x

// WIDEN writes the eight bytes at at(SP), with a backslash before each byte that the
// lowest byte of R8 marks, and shifts R8. It always writes sixteen bytes.
#define WIDEN(at) \
	MOVBLZX     R8, BX;               \
	SHRQ        $8, R8;               \
	VMOVQ       at(SP), X0;           \
	VPUNPCKLQDQ X14, X0, X0;          \ // the backslash is byte 8
	POPCNTL     BX, R10;              \
	SHLL        $4, BX;               \
	VPSHUFB     (R11)(BX*1), X0, X0;  \
	VMOVDQU     X0, (DI);             \
	LEAQ        8(DI)(R10*1), DI

// func escapeAVX2(dst, src *byte, space, n int, widenings *[256][16]byte) (wrote, took int)
TEXT ·escapeAVX2(SB), NOSPLIT, $64-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ space+16(FP), DX
	LEAQ -128(DI)(DX*1), DX // a block must not begin behind it
	MOVQ n+24(FP), CX
	MOVQ widenings+32(FP), R11
	FILL_SPECIAL
	VBROADCASTI128 controls<>(SB), Y11
	VBROADCASTI128 names<>(SB), Y10

block:
	SUBQ    $64, CX
	JLT     done
	CMPQ    DI, DX
	JGT     done
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	FIND(Y0, Y2, Y5, R12)
	FIND(Y1, Y3, Y5, BX)
	SHLQ    $32, BX
	ORQ     BX, R12 // those that need an escape
	JEQ     plain

	NAME(Y0, Y2, Y5, AX)
	NAME(Y1, Y3, Y5, BX)
	SHLQ    $32, BX
	ORQ     BX, AX // those that need a long one
	VMOVDQU Y0, 0(SP)
	VMOVDQU Y1, 32(SP)
	MOVQ    DI, R9
	MOVQ    R12, R8
	WIDEN(0)
	WIDEN(8)
	WIDEN(16)
	WIDEN(24)
	WIDEN(32)
	WIDEN(40)
	WIDEN(48)
	WIDEN(56)
	TESTQ AX, AX
	JNE   stop
	ADDQ  $64, SI
	JMP   block

plain:
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	ADDQ    $64, DI
	ADDQ    $64, SI
	JMP     block

stop:
	// Stop before the first byte that AX marks.
	BSFQ    AX, BX
	MOVQ    AX, R8
	NEGQ    R8
	ANDQ    AX, R8
	DECQ    R8
	ANDQ    R12, R8
	POPCNTQ R8, R8
	LEAQ    (R9)(BX*1), DI
	ADDQ    R8, DI
	ADDQ    BX, SI

done:
	SUBQ dst+0(FP), DI
	SUBQ src+8(FP), SI
	MOVQ DI, wrote+40(FP)
	MOVQ SI, took+48(FP)
	VZEROUPPER
	RET
