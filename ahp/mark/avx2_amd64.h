// What both ways through a string keep in registers. FILL puts a byte thirty-two
// times into y, whose lower half is x; eight is the byte eight times.
#define FILL(eight, x, y) \
	MOVQ         eight, AX; \
	VMOVQ        AX, x;     \
	VPBROADCASTQ x, y

#define FILL_SPECIAL \
	FILL($0x5c5c5c5c5c5c5c5c, X14, Y14); \ // backslash
	FILL($0x2222222222222222, X13, Y13); \ // quote
	FILL($0x1f1f1f1f1f1f1f1f, X12, Y12)     // the last control character
