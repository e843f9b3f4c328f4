package aap

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxPath = 512 // bytes of a page's path
	folder  = "interactions"
)

// ValidPath reports whether a path may name a page: relative, without "..", backslashes,
// control characters, a drive letter, or segments that are empty or begin with a dot, and
// outside of the folder interactions.
func ValidPath(p string) bool {
	if p == "" || len(p) > maxPath || !utf8.ValidString(p) || strings.Contains(p, "..") ||
		strings.ContainsRune(p, '\\') || strings.ContainsFunc(p, unicode.IsControl) || hasDrive(p) {
		return false
	}
	segments := strings.Split(p, "/")
	for _, s := range segments {
		if s == "" || s[0] == '.' {
			return false
		}
	}
	return !strings.EqualFold(segments[0], folder) // also where case does not count in names
}

func hasDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

// IsPage reports whether a name ends like an HTML file.
func IsPage(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".html" || ext == ".htm"
}

// checkPage refuses a path that cannot be read or written as a page.
func checkPage(file string) error {
	if !ValidPath(file) {
		return badPath("file")
	}
	if !IsPage(file) {
		return errorf(CodeInvalidRequest, "file", "Only .html and .htm files are supported")
	}
	return nil
}
