package canvas

import (
	"errors"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// ContentPath is the path of content inside an instance, parsed and checked
// (canvas/PROTOCOL.md section 6): no segment is empty, "." or "..", or contains a slash,
// a backslash or NUL. The zero value is the root without its slash.
type ContentPath struct {
	Segments []string // decoded
	Dir      bool     // the path ends in a slash; without segments it is "/"
	Query    string   // not decoded, without the question mark
}

// MaxContentPath limits the path and query of a content URI, in bytes.
const MaxContentPath = 2048

const contentPrefix = ahp.SchemeContent + ":/"

// ParseContentURI parses ahp-canvas-content:/<instanceId>/<path>[?query]. The instance id
// is percent-encoded, and returned decoded. A URI without
// a path means the root.
func ParseContentURI(uri string) (instanceID string, p ContentPath, err error) {
	rest, ok := strings.CutPrefix(uri, contentPrefix)
	if !ok {
		return "", p, errors.New("want " + contentPrefix + "<instanceId>/<path>")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	instanceID, ok = parseInstanceID(rest[:end])
	rest = rest[end:]
	if !ok {
		return "", p, errors.New("the instance id is invalid")
	}
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	p, err = ParseContentPath(rest)
	return instanceID, p, err
}

// ParseContentPath parses a path with its query. It must begin with "/".
func ParseContentPath(raw string) (ContentPath, error) {
	var p ContentPath
	switch {
	case len(raw) > MaxContentPath:
		return p, errors.New("the path is too long")
	case !strings.HasPrefix(raw, "/"):
		return p, errors.New("the path does not begin with a slash")
	case strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' || r == 0x7f || r == '#' }):
		return p, errors.New("the path holds a control character or a fragment")
	case !utf8.ValidString(raw):
		return p, errors.New("the path is not valid UTF-8")
	}
	raw, p.Query, _ = strings.Cut(raw[1:], "?") // a query is not checked: browsers do not encode a backslash in it
	if raw == "" {
		p.Dir = true
		return p, nil
	}
	raw, p.Dir = strings.CutSuffix(raw, "/")
	for s := range strings.SplitSeq(raw, "/") {
		decoded, err := decodeSegment(s)
		if err != nil {
			return ContentPath{}, err
		}
		p.Segments = append(p.Segments, decoded)
	}
	return p, nil
}

// decodeSegment decodes a segment once. It returns an error for encoded characters
// that would change the path's structure.
func decodeSegment(s string) (string, error) {
	switch {
	case s == "" || s == "." || s == "..":
		return "", errors.New("the path holds an empty segment or one of dots")
	case strings.Contains(s, `\`):
		return "", errors.New("the path holds a backslash")
	}
	if !strings.Contains(s, "%") {
		return s, nil
	}
	b, ok := unescape(s)
	if !ok {
		return "", errors.New("the path holds a percent sign without two hex digits")
	}
	for _, code := range []string{"%2f", "%5c", "%2e", "%00"} {
		if strings.Contains(strings.ToLower(s), code) {
			return "", errors.New("the path holds an encoded slash, backslash, dot or NUL")
		}
	}
	if !utf8.Valid(b) {
		return "", errors.New("the decoded path is not valid UTF-8")
	}
	return string(b), nil
}

// unescape decodes every %XX. It returns false for a percent sign without two hex digits.
func unescape(s string) ([]byte, bool) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) || unhex(s[i+1]) < 0 || unhex(s[i+2]) < 0 {
			return nil, false
		}
		b = append(b, byte(unhex(s[i+1])<<4|unhex(s[i+2])))
		i += 2
	}
	return b, true
}

func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// Name returns the path for an fs.FS or os.Root: "." for the root.
func (p ContentPath) Name() string {
	if len(p.Segments) == 0 {
		return "."
	}
	return strings.Join(p.Segments, "/")
}

// Ext returns the extension of the last segment, with its dot, in lower case.
func (p ContentPath) Ext() string { return strings.ToLower(path.Ext(p.Name())) }

// String returns the path encoded for a URI, with its query. Parsing it gives the same
// value.
func (p ContentPath) String() string {
	var b strings.Builder
	for _, s := range p.Segments {
		b.WriteByte('/')
		b.WriteString(escapeSegment(s))
	}
	if p.Dir {
		b.WriteByte('/')
	}
	if p.Query != "" {
		b.WriteByte('?')
		b.WriteString(p.Query)
	}
	return b.String()
}

// Empty reports whether the path is the zero value.
func (p ContentPath) Empty() bool { return len(p.Segments) == 0 && !p.Dir && p.Query == "" }

func escapeSegment(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; plain(c) {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + string(hex[c>>4]) + string(hex[c&15]))
		}
	}
	return b.String()
}

// plain reports whether c is a pchar of RFC 3986, which a path contains unencoded.
func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~!$&'()*+,;=:@", c) >= 0
}

// ContentURL returns the address of content that an instance serves. path is not yet
// encoded, and a leading "/" makes no difference. A query after "?" is kept unchanged.
func ContentURL(instanceID, path string) string {
	path, query, found := strings.Cut("/"+strings.TrimPrefix(path, "/"), "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = escapeSegment(s)
	}
	uri := contentPrefix + escapeInstanceID(instanceID) + strings.Join(segments, "/")
	if found {
		uri += "?" + query
	}
	return uri
}

// URI returns the content URI of the path inside an instance.
func (p ContentPath) URI(instanceID string) string {
	return contentPrefix + escapeInstanceID(instanceID) + p.String()
}
