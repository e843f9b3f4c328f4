#include "textflag.h"
#include "avx2_amd64.h"

// The letters of short escapes, by their lower four bits: the letter, and its XOR
// with the character that it stands for. A quote and an r have the lower bits of a
// b, and are compared separately.
DATA letters<>+0(SB)/8, $0xff66ff74ff62ffff
DATA letters<>+8(SB)/8, $0x2f6eff5cffffffff
GLOBL letters<>(SB), RODATA, $16
DATA changes<>+0(SB)/8, $0x006a007d006a0000
DATA changes<>+8(SB)/8, $0x0064000000000000
GLOBL changes<>(SB), RODATA, $16

// Expands thirty-two bits to as many bytes: each byte of the word is copied eight
// times, and a different bit of each copy is kept.
DATA spread<>+0(SB)/8, $0x0000000000000000
DATA spread<>+8(SB)/8, $0x0101010101010101
DATA spread<>+16(SB)/8, $0x0202020202020202
DATA spread<>+24(SB)/8, $0x0303030303030303
GLOBL spread<>(SB), RODATA, $32

// MARK sets q to the quotes of x, slashes to its backslashes, and others to its
// quotes and control characters. It overwrites t.
#define MARK(x, q, t, slashes, others) \
	VPOR      x, Y15, Y15; \
	VPCMPEQB  x, Y14, t;   \
	VPMOVMSKB t, slashes;  \
	VPCMPEQB  x, Y13, q;   \
	VPMINUB   x, Y12, t;   \ // control characters are at most the last one
	VPCMPEQB  x, t, t;     \
	VPOR      q, t, t;     \
	VPMOVMSKB t, others

// LETTERS sets fit to the bytes of x that are letters of short escapes, and replaces
// those in escaped by the characters that they stand for. It overwrites t and u. ux
// is the lower half of u.
#define LETTERS(x, q, t, u, ux, escaped, fit) \
	VPSHUFB      x, Y11, t;  \ // the letter with these lower bits, if there is one
	VPCMPEQB     x, t, t;    \
	VPCMPEQB     x, Y9, u;   \
	VPOR         q, t, t;    \
	VPOR         u, t, t;    \
	VPMOVMSKB    t, fit;     \
	VPSHUFB      x, Y10, t;  \
	VPAND        u, Y6, u;   \
	VPXOR        u, t, t;    \
	VPANDN       t, q, t;    \ // a quote does not change
	VMOVD        escaped, ux; \
	VPBROADCASTD ux, u;      \
	VPSHUFB      Y7, u, u;   \
	VPAND        Y8, u, u;   \
	VPCMPEQB     Y8, u, u;   \
	VPAND        t, u, u;    \
	VPXOR        u, x, x

// SQUEEZE writes the eight bytes at at(SP) without those that the lowest byte of R8
// marks, and shifts R8.
#define SQUEEZE(at) \
	MOVBLZX  R8, BX;            \
	SHRQ     $8, R8;            \
	VMOVQ    at(SP), X0;        \
	VMOVQ    (R11)(BX*8), X1;   \
	VPSHUFB  X1, X0, X0;        \
	VMOVQ    X0, at(DI);        \
	POPCNTL  BX, BX;            \
	SUBQ     BX, DI

// func unescapeAVX2(dst, src *byte, n int, squeezes *[256]uint64) (wrote, took int, high bool)
TEXT ·unescapeAVX2(SB), NOSPLIT, $64-49
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ squeezes+24(FP), R11
	MOVQ $0x5555555555555555, R13
	XORL DX, DX                   // 1 if the block's first byte is a letter
	FILL_SPECIAL
	FILL($0x7272727272727272, X9, Y9)   // r
	FILL($0x1515151515151515, X6, Y6)   // XOR of r's change and b's
	FILL($0x8040201008040201, X8, Y8)
	VBROADCASTI128 letters<>(SB), Y11
	VBROADCASTI128 changes<>(SB), Y10
	VMOVDQU spread<>(SB), Y7
	VPXOR Y15, Y15, Y15

block:
	SUBQ    $64, CX
	JLT     done
	VMOVDQU (SI), Y0
	VMOVDQU 32(SI), Y1
	MARK(Y0, Y2, Y4, AX, R8)
	MARK(Y1, Y3, Y5, BX, R9)
	SHLQ    $32, BX
	ORQ     BX, AX // backslashes
	SHLQ    $32, R9
	ORQ     R9, R8 // others
	MOVQ    AX, BX
	ORQ     R8, BX
	ORQ     DX, BX
	JEQ     plain

	// Every other backslash of a run begins an escape. The sum carries out of the
	// runs that begin at an even place and does not change the others.
	MOVQ DX, R9
	NOTQ R9
	ANDQ AX, R9          // backslashes that are not letters
	LEAQ (R9)(R9*1), R12
	NOTQ R12
	ANDQ R9, R12         // the first of each run
	ANDQ R13, R12
	ADDQ R9, R12
	XORQ R13, R12
	ANDQ R9, R12         // begin an escape
	LEAQ (DX)(R12*2), R9 // the letters

	LETTERS(Y0, Y2, Y4, Y5, X5, R9, AX)
	MOVQ    R9, R10
	SHRQ    $32, R10
	LETTERS(Y1, Y3, Y4, Y5, X5, R10, BX)
	VMOVDQU Y0, 0(SP)
	VMOVDQU Y1, 32(SP)
	SHLQ    $32, BX
	ORQ     BX, AX
	NOTQ    AX
	ANDQ    R9, AX // letters of no short escape
	MOVQ    R9, BX
	NOTQ    BX
	ANDQ    R8, BX // other characters that are not letters
	ORQ     BX, AX

	MOVQ R12, R8
	SQUEEZE(0)
	SQUEEZE(8)
	SQUEEZE(16)
	SQUEEZE(24)
	SQUEEZE(32)
	SQUEEZE(40)
	SQUEEZE(48)
	SQUEEZE(56)

	TESTQ AX, AX
	JNE   stop
	ADDQ  $64, DI
	ADDQ  $64, SI
	MOVQ  R12, DX
	SHRQ  $63, DX
	JMP   block

plain:
	VMOVDQU Y0, (DI)
	VMOVDQU Y1, 32(DI)
	ADDQ    $64, DI
	ADDQ    $64, SI
	JMP     block

stop:
	// Stop before the first byte that AX marks, or before its backslash.
	POPCNTQ R12, R8
	ADDQ    R8, DI // where the block's output begins
	BSFQ    AX, BX
	MOVQ    AX, R8
	NEGQ    R8
	ANDQ    AX, R8
	DECQ    R8
	ANDQ    R12, R8
	POPCNTQ R8, R8
	ADDQ    BX, DI
	SUBQ    R8, DI
	ADDQ    BX, SI
	BTQ     BX, R9
	SETCS   DX
	MOVBLZX DX, DX

done:
	SUBQ      DX, SI // an escape is taken as a whole
	SUBQ      dst+0(FP), DI
	SUBQ      src+8(FP), SI
	MOVQ      DI, wrote+32(FP)
	MOVQ      SI, took+40(FP)
	VPMOVMSKB Y15, AX // the highest bit of each byte
	TESTL     AX, AX
	SETNE     high+48(FP)
	VZEROUPPER
	RET
