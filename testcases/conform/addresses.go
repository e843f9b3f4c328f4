package conform

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Addresses of open canvases open them for each holder: neither a recording nor a
// report contains their labels and secrets.
var (
	addressSecret = regexp.MustCompile(`((?:~|%7[Ee])t(?:=|%3[Dd]))[A-Za-z0-9_-]+`)
	addressLabel  = regexp.MustCompile(`\bg-[0-9a-f]{32}\b`)
	labelMember   = regexp.MustCompile(`("label"\s*:\s*")([0-9a-f]{32})"`)
)

// hasAddress reports whether a text contains a part of the address of a canvas.
func hasAddress(text string) bool {
	return addressLabel.MatchString(text) || addressSecret.MatchString(text) || labelMember.MatchString(text)
}

// withoutAddresses replaces labels and secrets of canvases' addresses in a frame, including
// those written with escapes. One label always becomes the same other one.
func withoutAddresses(text string) string {
	if v := ahp.Value(text); strings.Contains(text, `\`) && v.IsValid() {
		if readable := string(unescaped(v)); hasAddress(readable) {
			text = readable
		}
	}
	text = addressSecret.ReplaceAllString(text, "${1}token")
	text = addressLabel.ReplaceAllStringFunc(text, func(label string) string { return "g-" + otherLabel(label[2:]) })
	return labelMember.ReplaceAllStringFunc(text, func(member string) string {
		parts := labelMember.FindStringSubmatch(member)
		return parts[1] + otherLabel(parts[2]) + `"`
	})
}

// otherLabel returns a label that does not reveal the given one.
func otherLabel(label string) string {
	sum := sha256.Sum256([]byte("recorded label " + label))
	return hex.EncodeToString(sum[:16])
}

// redact removes addresses of canvases from what a result shows.
func (res *Result) redact() {
	for _, text := range []*string{&res.Problem, &res.Want, &res.Have} {
		*text = withoutAddresses(*text)
	}
	for n := range res.Exchange {
		res.Exchange[n] = withoutAddresses(res.Exchange[n])
	}
}
