package bridge

import "bytes"

// readHeaders decodes a list of [name, value].
func readHeaders(v []byte) ([]header, *Error) {
	if v == nil {
		return nil, errMalformed
	}
	var list []header
	size := 0
	ok := elements(v, func(pair []byte) bool {
		h, ok := readHeader(pair)
		size += len(h.name) + len(h.value)
		list = append(list, h)
		return ok
	})
	switch {
	case !ok:
		return nil, errMalformed
	case size > maxHeaders || len(list) > maxHeaderCount:
		return nil, errHeaders
	}
	return list, nil
}

func readHeader(pair []byte) (h header, ok bool) {
	n := 0
	ok = elements(pair, func(v []byte) bool {
		said, ok := text(v)
		switch n++; n {
		case 1:
			h.name = said
			ok = ok && isToken(said) && lower(said)
		case 2:
			h.value, ok = byteString(said, ok)
		default:
			ok = false
		}
		return ok
	})
	return h, ok && n == 2
}

// byteString converts characters U+0000 to U+00FF to bytes. Control characters except
// tab are invalid.
func byteString(s string, ok bool) (string, bool) {
	if !ok {
		return "", false
	}
	if printable(s) {
		return s, true
	}
	var b bytes.Buffer
	for _, r := range s {
		if r > 0xff || r < ' ' && r != '\t' || r == 0x7f {
			return "", false
		}
		b.WriteByte(byte(r))
	}
	return b.String(), true
}

// printable reports whether s is ASCII from space to tilde.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// isToken reports whether s is a token (RFC 9110 section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), c) >= 0 {
			continue
		}
		return false
	}
	return s != ""
}

func lower(s string) bool {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			return false
		}
	}
	return true
}

// isPath reports whether s can be the path and query of a request line.
func isPath(s string) bool {
	if s == "" || s[0] != '/' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '#' || c == '\\' {
			return false
		}
	}
	return true
}
