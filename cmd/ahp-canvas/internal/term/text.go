package term

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// measure counts columns. It ignores the locale, so that output is the same for all
// users: characters of ambiguous width count as one column.
var measure = &runewidth.Condition{StrictEmojiNeutral: true}

// Width returns how many columns of a terminal a text takes.
func Width(s string) int { return measure.StringWidth(s) }

// Pad fills a text with spaces to a width.
func Pad(s string, width int) string { return measure.FillRight(s, width) }

// Cut shortens a text to a width; a shortened text ends with "…".
func Cut(text string, width int) string { return measure.Truncate(text, width, "…") }

// Split breaks a text anywhere into lines of at most a width.
func Split(text string, width int) []string {
	return strings.Split(measure.Wrap(text, width), "\n")
}

// Fold breaks a text between words into lines of at most a width, and splits words that
// are longer than a line.
func Fold(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && Width(line)+1+Width(word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		parts := Split(word, width)
		lines = append(lines, parts[:len(parts)-1]...)
		line = parts[len(parts)-1]
	}
	if line == "" {
		return lines
	}
	return append(lines, line)
}

// Wrap joins words with commas into lines. A line is at most width columns wide, unless
// a single word is wider.
func Wrap(words []string, width int) (first string, more []string) {
	lines := []string{""}
	for i, word := range words {
		if i < len(words)-1 {
			word += ","
		}
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case Width(*last)+1+Width(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines[0], lines[1:]
}

// Count returns a number with its noun, as in "1 record" or "2 records".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ShellWord quotes a text so that a shell takes it as one word.
func ShellWord(s string) string {
	s = Printable(s)
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("./_-+:@%,", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
