package contentjson

import (
	"strings"

	"github.com/segmentio/asm/utf8"
)

// textualTypes lists the application types that are text.
var textualTypes = map[string]bool{
	"application/json": true, "application/javascript": true, "application/xml": true, "application/jsonl": true,
	"application/yaml": true, "application/toml": true, "application/x-javascript": true,
}

// IsText reports whether content is sent as text: its type is textual, and its bytes
// are UTF-8.
func IsText(contentType string, data []byte) bool {
	base, params, _ := strings.Cut(strings.ToLower(contentType), ";")
	base = strings.TrimSpace(base)
	if _, charset, ok := strings.Cut(params, "charset="); ok {
		charset, _, _ = strings.Cut(charset, ";")
		if charset = strings.Trim(strings.TrimSpace(charset), `"`); charset != "utf-8" && charset != "us-ascii" {
			return false
		}
	}
	is := strings.HasPrefix(base, "text/") || textualTypes[base] || strings.HasSuffix(base, "+json") || strings.HasSuffix(base, "+xml")
	return is && utf8.Valid(data)
}
