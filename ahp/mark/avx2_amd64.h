// FILL sets all thirty-two bytes of y. x is the lower half of y, and eight has the
// byte eight times.
#define FILL(eight, x, y) \
	MOVQ         eight, AX; \
	VMOVQ        AX, x;     \
	VPBROADCASTQ x, y

// FILL_SPECIAL sets the registers with the characters that Special marks.
#define FILL_SPECIAL \
	FILL($0x5c5c5c5c5c5c5c5c, X14, Y14); \ // backslash
	FILL($0x2222222222222222, X13, Y13); \ // quote
	FILL($0x1f1f1f1f1f1f1f1f, X12, Y12)     // the last control character
