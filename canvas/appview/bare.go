package appview

import "strings"

// bare removes comments and needless spaces from our scripts, and shortens the names of private
// members: the shell is sent with each canvas that a chat shows. It understands only the
// JavaScript that these scripts use.
func bare(script string) string {
	b := bareScript{in: script}
	for b.at < len(b.in) {
		b.token()
	}
	return b.out.String()
}

// bareScript is a script of which in[:at] is done.
type bareScript struct {
	in    string
	at    int
	out   strings.Builder
	last  byte              // of out
	word  string            // the word that ends out; "" if it ends otherwise
	gap   byte              // what stood since then: 0, a space or a new line
	names map[string]string // the short names of private members
}

func (b *bareScript) token() {
	rest := b.in[b.at:]
	switch c := rest[0]; {
	case c == ' ' || c == '\t' || c == '\n':
		if c == '\n' || b.gap == 0 {
			b.gap = c
		}
		b.at++
	case strings.HasPrefix(rest, "//"):
		b.at += end(rest, "\n")
	case strings.HasPrefix(rest, "/*"):
		b.at += end(rest, "*/") + 2
	case c == '"' || c == '\'' || c == '`' || c == '/' && b.beforeRegexp():
		n := literal(rest)
		b.put(rest[:n])
		b.at += n
	case wordByte(c):
		n := 1
		for n < len(rest) && wordByte(rest[n]) {
			n++
		}
		b.put(rest[:n])
		b.word = rest[:n]
		b.at += n
	default:
		b.put(rest[:1])
		b.at++
	}
}

// short returns a short name for a private member.
func (b *bareScript) short(name string) string {
	if b.names == nil {
		b.names = map[string]string{}
	}
	if b.names[name] == "" {
		n := len(b.names)
		b.names[name] = "#" + string(rune('a'+n%26)) + strings.Repeat("_", n/26)
	}
	return b.names[name]
}

// put writes a token, and before it the space or the line that it needs.
func (b *bareScript) put(token string) {
	first := token[0]
	switch {
	case b.last == 0:
	case b.gap == '\n' && !strings.ContainsRune("{;,([=&|?:>", rune(b.last)) && !strings.ContainsRune("});,]", rune(first)):
		b.out.WriteByte('\n') // it may end a statement
	case b.gap != 0 && (wordByte(b.last) && wordByte(first) || b.last == first && (first == '+' || first == '-')):
		b.out.WriteByte(' ')
	}
	if first == '#' {
		token = b.short(token)
	}
	b.out.WriteString(token)
	b.last, b.gap, b.word = token[len(token)-1], 0, ""
}

// beforeRegexp reports whether a slash begins a regular expression here.
func (b *bareScript) beforeRegexp() bool {
	return b.last == 0 || strings.ContainsRune("(,=:[!&|?{};+-*%<>~^", rune(b.last)) || b.word == "return"
}

func wordByte(c byte) bool {
	return c == '_' || c == '$' || c == '#' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func end(s, mark string) int {
	if n := strings.Index(s, mark); n >= 0 {
		return n
	}
	return len(s)
}

// literal returns the length of the text, template or regular expression that begins s.
func literal(s string) int {
	class := false
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[0] == '`' && strings.HasPrefix(s[i:], "${"):
			i += substitution(s[i:]) - 1
		case s[0] == '/' && s[i] == '[':
			class = true
		case s[i] == ']':
			class = false
		case s[i] == s[0] && !class:
			return i + 1
		}
	}
	return len(s)
}

// substitution returns the length of the "${...}" that begins s.
func substitution(s string) int {
	depth := 0
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'', '`':
			i += literal(s[i:]) - 1
		}
	}
	return len(s)
}
