package codegen

import (
	"fmt"
	"strings"
	"unicode"
)

// words splits a name of the wire: at marks, and where a capital follows a small letter.
func words(name string) (list []string) {
	word := ""
	end := func() {
		if word != "" {
			list = append(list, strings.ToLower(word))
		}
		word = ""
	}
	var last rune
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && unicode.IsLower(last):
			end()
			word += string(r)
		default:
			word += string(r)
		}
		last = r
	}
	end()
	return list
}

func pascal(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

func camel(name string) string {
	p := pascal(name)
	return strings.ToLower(p[:1]) + p[1:]
}

func snake(name string) string { return strings.Join(words(name), "_") }

// literal names the type of a member that has one value.
func literal(tag any) string {
	if s, ok := tag.(string); ok {
		return "Is" + pascal(s)
	}
	return "Is" + pascal(strings.ReplaceAll(fmt.Sprint(tag), "-", "Minus"))
}

// commented puts a mark before each line of a text.
func commented(indent, mark, doc string) string {
	if doc == "" {
		return ""
	}
	var b strings.Builder
	line := ""
	flush := func() {
		if line != "" {
			b.WriteString(indent + mark + line + "\n")
		}
		line = ""
	}
	for w := range strings.FieldsSeq(doc) {
		if len(line)+len(w) > 90 {
			flush()
		}
		line += " " + w
	}
	flush()
	return b.String()
}
