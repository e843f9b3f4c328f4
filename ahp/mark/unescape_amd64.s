#include "textflag.h"
#include "avx2_amd64.h"

// What a letter behind a backslash is, by its lower four bits: the letter, and
// what it differs in from what it stands for. A quote and an r have those bits of
// a b; they are looked at apart.
DATA letters<>+0(SB)/8, $0xff66ff74ff62ffff
DATA letters<>+8(SB)/8, $0x2f6eff5cffffffff
GLOBL letters<>(SB), RODATA, $16
DATA changes<>+0(SB)/8, $0x006a007d006a0000
DATA changes<>+8(SB)/8, $0x0064000000000000
GLOBL changes<>(SB), RODATA, $16

// A word of thirty-two bits becomes as many bytes: each of its bytes is copied
// eight times, and another bit of each copy is kept.
DATA spread<>+0(SB)/8, $0x0000000000000000
DATA spread<>+8(SB)/8, $0x0101010101010101
DATA spread<>+16(SB)/8, $0x0202020202020202
DATA spread<>+24(SB)/8, $0x0303030303030303
GLOBL spread<>(SB), RODATA, $32

// MARK finds in thirty-two bytes, x, the quotes (q), the backslashes (slashes) and
// all else that cannot stand for itself, quotes included (others). It spoils t.
#define MARK(x, q, t, slashes, others) \
	VPOR      x, Y15, Y15; \
	VPCMPEQB  x, Y14, t;   \
	VPMOVMSKB t, slashes;  \
	VPCMPEQB  x, Y13, q;   \
	VPMINUB   x, Y12, t;   \ // control characters: none is above the last one
	VPCMPEQB  x, t, t;     \
	VPOR      q, t, t;     \
	VPMOVMSKB t, others

// LETTERS finds in thirty-two bytes, x, what may stand behind a backslash (fit),
// and makes of it what it stands for where it does (escaped). It spoils t and u,
// whose lower half is ux.
#define LETTERS(x, q, t, u, ux, escaped, fit) \
	VPSHUFB      x, Y11, t;  \ // the one letter with these lower bits, if any
	VPCMPEQB     x, t, t;    \
	VPCMPEQB     x, Y9, u;   \
	VPOR         q, t, t;    \
	VPOR         u, t, t;    \
	VPMOVMSKB    t, fit;     \
	VPSHUFB      x, Y10, t;  \
	VPAND        u, Y6, u;   \
	VPXOR        u, t, t;    \
	VPANDN       t, q, t;    \ // a quote stands for itself
	VMOVD        escaped, ux; \
	VPBROADCASTD ux, u;      \
	VPSHUFB      Y7, u, u;   \
	VPAND        Y8, u, u;   \
	VPCMPEQB     Y8, u, u;   \
	VPAND        t, u, u;    \
	VPXOR        u, x, x

// SQUEEZE writes the eight bytes at at(SP) without those whose bits are set in
// the lowest byte of R8, which it shifts out.
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
	XORL DX, DX                   // 1 where the block's first byte is a letter
	FILL_SPECIAL
	FILL($0x7272727272727272, X9, Y9)   // r
	FILL($0x1515151515151515, X6, Y6)   // what r's change differs in from b's
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

	// Of a run of backslashes every other one begins a sequence. The sum carries
	// out of the runs that begin at an even place, and leaves the others as they are.
	MOVQ DX, R9
	NOTQ R9
	ANDQ AX, R9          // without a letter
	LEAQ (R9)(R9*1), R12
	NOTQ R12
	ANDQ R9, R12         // the first of each run
	ANDQ R13, R12
	ADDQ R9, R12
	XORQ R13, R12
	ANDQ R9, R12         // begins a sequence
	LEAQ (DX)(R12*2), R9 // is its letter

	LETTERS(Y0, Y2, Y4, Y5, X5, R9, AX)
	MOVQ    R9, R10
	SHRQ    $32, R10
	LETTERS(Y1, Y3, Y4, Y5, X5, R10, BX)
	VMOVDQU Y0, 0(SP)
	VMOVDQU Y1, 32(SP)
	SHLQ    $32, BX
	ORQ     BX, AX
	NOTQ    AX
	ANDQ    R9, AX // letters that are none
	MOVQ    R9, BX
	NOTQ    BX
	ANDQ    R8, BX // others that are no letters
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
	// What AX marks first ends it, or the backslash before that.
	POPCNTQ R12, R8
	ADDQ    R8, DI // where the block was to be written
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
	SUBQ      DX, SI // a sequence is taken whole
	SUBQ      dst+0(FP), DI
	SUBQ      src+8(FP), SI
	MOVQ      DI, wrote+32(FP)
	MOVQ      SI, took+40(FP)
	VPMOVMSKB Y15, AX // the highest bit of each byte
	TESTL     AX, AX
	SETNE     high+48(FP)
	VZEROUPPER
	RET
