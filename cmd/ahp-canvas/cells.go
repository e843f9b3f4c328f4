package main

import (
	"strings"
	"unicode"
)

// cells is how many columns a terminal draws a text in. It counts runes and no
// grapheme clusters: joined emoji are counted too wide, which makes a column
// wider than it need be.
func cells(s string) int {
	n := 0
	for _, r := range s {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // drawn upon the one before, or not at all
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// wide is the blocks that East Asian Width (UAX #11) has as W or F. Of the older
// symbols a few are wide by themselves; those count as one.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115f, 1}, // Hangul that begins a syllable
		{0x2e80, 0x303e, 1}, // radicals, CJK punctuation
		{0x3041, 0x4dbf, 1}, // Kana, Bopomofo, CJK
		{0x4e00, 0xa4cf, 1}, // CJK, Yi
		{0xa960, 0xa97c, 1}, // Hangul
		{0xac00, 0xd7a3, 1},
		{0xf900, 0xfaff, 1}, // CJK compatibility
		{0xfe10, 0xfe19, 1},
		{0xfe30, 0xfe6b, 1},
		{0xff01, 0xff60, 1}, // full-width forms
		{0xffe0, 0xffe6, 1},
	},
	R32: []unicode.Range32{
		{0x16fe0, 0x18cff, 1}, // Tangut
		{0x1b000, 0x1b2fb, 1}, // Kana
		{0x1f300, 0x1f64f, 1}, // emoji
		{0x1f680, 0x1f6ff, 1},
		{0x1f7e0, 0x1f7eb, 1},
		{0x1f900, 0x1faff, 1},
		{0x20000, 0x3fffd, 1}, // CJK
	},
}

// pad fills a text with spaces up to a width.
func pad(s string, to int) string { return s + strings.Repeat(" ", max(0, to-cells(s))) }
