package jsonschema

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A pattern is ECMAScript. Backtracking engines for it take exponential time on hostile
// patterns, and a time limit needs a clock. So a pattern is translated to RE2, whose time
// is linear. That is exact for everything but lookarounds and backreferences; of those,
// lookaheads right behind a leading ^ are matched as expressions beside the rest.

// errInexact is the error for a pattern that RE2 cannot express.
var errInexact = errors.New("needs a backtracking engine")

// matcher is a translated pattern: a text matches if each of its parts does or, for a
// negative lookahead, does not.
type matcher []struct {
	*regexp.Regexp
	negative bool
}

func (m matcher) matches(text string) bool {
	for _, part := range m {
		if part.MatchString(text) == part.negative {
			return false
		}
	}
	return true
}

// translation is a pattern as RE2 expressions, not yet compiled.
type translation []struct {
	text     string
	negative bool
}

// translate returns the RE2 expressions that match what an ECMAScript pattern matches.
func translate(pattern string) (translation, error) {
	var all translation
	add := func(text string, negative bool) error {
		t := translator{in: text}
		out, err := t.run()
		all = append(all, struct {
			text     string
			negative bool
		}{out, negative})
		return err
	}
	rest, anchored := strings.CutPrefix(pattern, "^")
	for anchored && (strings.HasPrefix(rest, "(?=") || strings.HasPrefix(rest, "(?!")) {
		negative, body := rest[2] == '!', rest[3:]
		end, _ := skip(body)
		if end == len(body) {
			return nil, errInexact
		}
		rest = body[end+1:]
		// A lookahead that is repeated, or that belongs to the first alternative only.
		if _, alternatives := skip(rest); alternatives || strings.IndexAny(rest, "*+?{") == 0 {
			return nil, errInexact
		}
		if err := add("^(?:"+body[:end]+")", negative); err != nil {
			return nil, err
		}
	}
	if anchored {
		rest = "^" + rest
	}
	return all, add(rest, false)
}

// skip returns where the group ends that s begins in, or len(s), and whether the group has
// alternatives.
func skip(s string) (end int, alternatives bool) {
	depth, class := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(':
			depth++
		case c == ')' && depth == 0:
			return i, alternatives
		case c == ')':
			depth--
		case c == '|' && depth == 0:
			alternatives = true
		}
	}
	return len(s), alternatives
}

// space are the white space and line ends of ECMAScript, and notSpace all others, as
// ranges of a class.
const (
	space    = `\t-\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`
	notSpace = `\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`
)

// translator rewrites one expression.
type translator struct {
	in  string
	at  int
	out strings.Builder
}

func (t *translator) run() (string, error) {
	for t.at < len(t.in) {
		var err error
		switch c := t.in[t.at]; c {
		case '\\':
			err = t.escape(false)
		case '[':
			err = t.class()
		case '(':
			err = t.group()
		case '.':
			t.put(1, `[^\n\r\x{2028}\x{2029}]`)
		default:
			t.put(1, t.in[t.at:t.at+1])
		}
		if err != nil {
			return "", err
		}
	}
	return t.out.String(), nil
}

// put takes n bytes of the input and writes text.
func (t *translator) put(n int, text string) {
	t.at += n
	t.out.WriteString(text)
}

func (t *translator) group() error {
	rest := t.in[t.at:]
	switch {
	case !strings.HasPrefix(rest, "(?"), strings.HasPrefix(rest, "(?:"):
	case strings.HasPrefix(rest, "(?<") && !strings.HasPrefix(rest, "(?<=") && !strings.HasPrefix(rest, "(?<!"):
	default:
		return errInexact
	}
	t.put(1, "(")
	return nil
}

func (t *translator) class() error {
	rest := t.in[t.at:]
	switch {
	case strings.HasPrefix(rest, "[^]"):
		t.put(3, `[\x{0}-\x{10ffff}]`)
		return nil
	case strings.HasPrefix(rest, "[]"):
		t.put(2, `[^\x{0}-\x{10ffff}]`)
		return nil
	}
	t.put(1, "[")
	if strings.HasPrefix(t.in[t.at:], "^") {
		t.put(1, "^")
	}
	for t.at < len(t.in) {
		switch c := t.in[t.at]; c {
		case ']':
			t.put(1, "]")
			return nil
		case '\\':
			if err := t.escape(true); err != nil {
				return err
			}
		case '[', '^':
			t.put(1, `\`+string(c))
		default:
			t.put(1, t.in[t.at:t.at+1])
		}
	}
	return errors.New("a class does not end")
}

// escape translates one escape sequence.
func (t *translator) escape(class bool) error {
	rest := t.in[t.at+1:]
	if rest == "" {
		return errors.New("it ends in a backslash")
	}
	switch c := rest[0]; c {
	case 'd', 'D', 'w', 'W', 'n', 'r', 't', 'f', 'v':
		t.put(2, `\`+string(c))
	case 'b', 'B':
		if class && c == 'b' {
			t.put(2, `\x08`)
		} else {
			t.put(2, `\`+string(c))
		}
	case 's', 'S':
		ranges := space
		if c == 'S' {
			ranges = notSpace
		}
		if !class {
			ranges = "[" + ranges + "]"
		}
		t.put(2, ranges)
	case 'p', 'P':
		return t.property(rest)
	case 'u', 'x', 'c', '0':
		return t.code(rest)
	case 'k', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return errInexact
	default:
		if c == '-' { // QuoteMeta leaves it: it would make a range
			t.put(2, `\-`)
			return nil
		}
		_, n := utf8.DecodeRuneInString(rest)
		t.put(1+n, regexp.QuoteMeta(rest[:n]))
	}
	return nil
}

// code translates \uXXXX, \u{X}, a surrogate pair, \xXX, \cX and \0.
func (t *translator) code(rest string) error {
	point := func(n int, r rune) error {
		t.put(1+n, fmt.Sprintf(`\x{%x}`, r))
		return nil
	}
	switch {
	case rest[0] == '0' && (len(rest) == 1 || rest[1] < '0' || rest[1] > '9'):
		return point(1, 0)
	case rest[0] == 'c' && len(rest) > 1 && (rest[1]|0x20) >= 'a' && (rest[1]|0x20) <= 'z':
		return point(2, rune(rest[1]%32))
	case rest[0] == 'x':
		if r, ok := hexRune(rest, 1, 3); ok {
			return point(3, r)
		}
	case strings.HasPrefix(rest, "u{"):
		end := strings.IndexByte(rest, '}')
		if r, ok := hexRune(rest, 2, end); ok && r <= 0x10ffff {
			return point(end+1, r)
		}
	case rest[0] == 'u':
		r, ok := hexRune(rest, 1, 5)
		if low, both := hexRune(rest, 7, 11); ok && both && strings.HasPrefix(rest[5:], `\u`) && utf16.DecodeRune(r, low) != 0xfffd {
			return point(11, utf16.DecodeRune(r, low))
		}
		if ok && !utf16.IsSurrogate(r) {
			return point(5, r)
		}
	}
	return errInexact
}

func hexRune(s string, from, to int) (rune, bool) {
	if to <= from || to > len(s) {
		return 0, false
	}
	n, err := strconv.ParseUint(s[from:to], 16, 32)
	return rune(n), err == nil
}

// property translates \p{…}. RE2 knows categories and scripts by their short names.
func (t *translator) property(rest string) error {
	end := strings.IndexByte(rest, '}')
	if !strings.HasPrefix(rest[1:], "{") || end < 0 {
		return errInexact
	}
	name := rest[2:end]
	for _, prefix := range []string{"General_Category=", "gc=", "Script=", "sc="} {
		name = strings.TrimPrefix(name, prefix)
	}
	if short := longCategories[name]; short != "" {
		name = short
	}
	t.put(1+end+1, `\`+rest[:1]+"{"+name+"}")
	return nil
}

var longCategories = map[string]string{
	"Letter": "L", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Mark": "M", "Number": "N", "Decimal_Number": "Nd",
	"Punctuation": "P", "Symbol": "S", "Separator": "Z", "Other": "C",
}
