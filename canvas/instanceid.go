package canvas

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// instancePattern matches instance ids (canvas/PROTOCOL.md section 2), for schemas.
const instancePattern = `^[^\x00-\x1f\x7f-\x9f]{1,128}$`

const maxInstanceID = 128 // code points

// CheckInstanceID returns an *[Error] if id is not an instance id (canvas/PROTOCOL.md
// section 2).
func CheckInstanceID(id string) error {
	if isInstanceID(id) {
		return nil
	}
	return &Error{Code: CodeInputInvalid, Path: "/instanceId", Rule: "pattern",
		Message: "an instanceId has 1 to 128 characters, without control characters"}
}

func isInstanceID(id string) bool {
	return id != "" && len(id) <= maxInstanceID*utf8.UTFMax && utf8.ValidString(id) &&
		utf8.RuneCountInString(id) <= maxInstanceID && !strings.ContainsFunc(id, unicode.IsControl)
}

// escapeInstanceID encodes an instance id as one segment of a content URI.
func escapeInstanceID(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return escapeSegment(id)
}

// parseInstanceID decodes the segment of a content URI that names the instance. Unlike in
// a path, any character may be encoded: the id is one name, whatever it contains.
func parseInstanceID(segment string) (id string, ok bool) {
	b, ok := unescape(segment)
	id = string(b)
	return id, ok && isInstanceID(id)
}

// InstanceIDPattern returns a regular expression that matches instance ids. It is valid
// in RE2 and in ECMAScript.
func InstanceIDPattern() string { return instancePattern }
