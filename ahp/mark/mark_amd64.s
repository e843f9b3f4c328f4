#include "textflag.h"

// FIND sets the low sixteen bits of out to the marks of the sixteen bytes at SI+at.
// It overwrites x, t and u. X8, X9 and X10 have a quote, a backslash and the last
// control character in every byte. X11 combines all bytes with OR.
#define FIND(at, x, t, u, out) \
	MOVOU    at(SI), x; \
	POR      x, X11;    \
	MOVO     x, t;      \
	MOVO     x, u;      \
	PCMPEQB  X8, t;     \ // quotes
	PMINUB   X10, u;    \
	PCMPEQB  x, u;      \ // control characters are at most the last one
	PCMPEQB  X9, x;     \ // backslashes
	POR      t, u;      \
	POR      u, x;      \
	PMOVMSKB x, out

// FILL sets all sixteen bytes of x. eight has the byte eight times.
#define FILL(eight, x) \
	MOVQ       eight, AX; \
	MOVQ       AX, x;     \
	PUNPCKLQDQ x, x

// func special(marks []uint64, text []byte) (high bool)
TEXT ·special(SB), NOSPLIT, $0-49
	MOVQ marks_base+0(FP), DI
	MOVQ marks_len+8(FP), CX
	MOVQ text_base+24(FP), SI
	FILL($0x2222222222222222, X8)
	FILL($0x5c5c5c5c5c5c5c5c, X9)
	FILL($0x1f1f1f1f1f1f1f1f, X10)
	PXOR X11, X11
	JMP  next

block:
	FIND(0, X0, X4, X12, AX)
	FIND(16, X1, X5, X13, BX)
	FIND(32, X2, X6, X14, R8)
	FIND(48, X3, X7, X15, R9)
	SHLQ $16, BX
	SHLQ $32, R8
	SHLQ $48, R9
	ORQ  BX, AX
	ORQ  R9, R8
	ORQ  R8, AX
	MOVQ AX, (DI)
	ADDQ $64, SI
	ADDQ $8, DI
	DECQ CX

next:
	TESTQ CX, CX
	JNE   block

	PMOVMSKB X11, AX // the highest bit of each byte
	TESTL    AX, AX
	SETNE    high+48(FP)
	RET
