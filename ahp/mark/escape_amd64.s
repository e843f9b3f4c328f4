#include "textflag.h"
#include "avx2_amd64.h"

// What has a short escape of the control characters, by its lower four bits: the
// character, and what it differs in from its letter.
DATA controls<>+0(SB)/8, $0xffffffffffffffff
DATA controls<>+8(SB)/8, $0xffff0d0cff0a0908
GLOBL controls<>(SB), RODATA, $16
DATA names<>+0(SB)/8, $0x0000000000000000
DATA names<>+8(SB)/8, $0x00007f6a00647d6a
GLOBL names<>(SB), RODATA, $16

// FIND marks in thirty-two bytes, x, what needs an escape (marks). c are then the
// control characters. It spoils t.
#define FIND(x, c, t, marks) \
	VPMINUB   x, Y12, c; \
	VPCMPEQB  x, c, c;   \ // none is above the last one
	VPCMPEQB  x, Y14, t; \
	VPOR      c, t, t;   \
	VPCMPEQB  x, Y13, Y4; \
	VPOR      Y4, t, t;  \
	VPMOVMSKB t, marks

// NAME makes of the control characters, c, of thirty-two bytes, x, the letters of
// their short escapes, and marks those that have none (long). It spoils t.
#define NAME(x, c, t, long) \
	VPSHUFB   x, Y11, t; \
	VPCMPEQB  x, t, t;   \ // has one
	VPANDN    c, t, c;   \
	VPMOVMSKB c, long;   \
	VPSHUFB   x, Y10, c; \
	VPAND     c, t, t;   \
	VPXOR     t, x, x

// WIDEN writes the eight bytes at at(SP), and a backslash before those whose bits
// are set in the lowest byte of R8, which it shifts out. It writes sixteen.
#define WIDEN(at) \
	MOVBLZX     R8, BX;               \
	SHRQ        $8, R8;               \
	VMOVQ       at(SP), X0;           \
	VPUNPCKLQDQ X14, X0, X0;          \ // the backslash is behind them
	POPCNTL     BX, R10;              \
	SHLL        $4, BX;               \
	VPSHUFB     (R11)(BX*1), X0, X0;  \
	VMOVDQU     X0, (DI);             \
	LEAQ        8(DI)(R10*1), DI

// func escapeAVX2(dst, src *byte, room, n int, widenings *[256][16]byte) (wrote, took int)
TEXT ·escapeAVX2(SB), NOSPLIT, $64-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ room+16(FP), DX
	LEAQ -128(DI)(DX*1), DX // the last place to begin a block at
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
	ORQ     BX, R12 // needs an escape
	JEQ     plain

	NAME(Y0, Y2, Y5, AX)
	NAME(Y1, Y3, Y5, BX)
	SHLQ    $32, BX
	ORQ     BX, AX // needs a long one
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
	// What AX marks first ends it.
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
