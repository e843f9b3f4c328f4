package a2ui

import (
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// oldKeys are the members by which versions before v0.9 are recognized.
var oldKeys = []string{"beginRendering", "surfaceUpdate", "dataModelUpdate"}

// open decodes a message and finds its version and key.
func (u *update) open(raw ahp.Value) {
	if raw.Kind() != '{' || !raw.IsValid() {
		u.fail(CodeValidationFailed, nil, "want an A2UI message: an object with version and one of "+strings.Join(sortedUpdateKeys, ", "))
		return
	}
	tree, err := decode(raw)
	if err != nil {
		u.fail(CodeValidationFailed, nil, "want valid JSON")
		return
	}
	u.message = object(tree)
	var keys []string
	for _, key := range sortedUpdateKeys {
		if _, ok := u.message[key]; ok {
			keys = append(keys, key)
		}
	}
	if len(keys) == 1 {
		u.key = keys[0]
		u.body = object(u.message, u.key)
	}
	if words := badVersion(u.message, oldKeys); words != "" {
		u.fail(CodeVersionUnsupported, []string{"version"}, words)
		return
	}
	u.version = str(u.message, "version")
	switch {
	case len(keys) > 1:
		u.fail(CodeValidationFailed, nil, "a message has one update, this one has "+strings.Join(keys, " and ")+"; send one message for each")
	case len(keys) == 0:
		u.fail(CodeValidationFailed, nil, "want one of "+strings.Join(sortedUpdateKeys, ", "))
	}
}

var sortedUpdateKeys = []string{"createSurface", "deleteSurface", "updateComponents", "updateDataModel"}

// badVersion says what is wrong with a message's version; "" if nothing.
func badVersion(m map[string]any, old []string) string {
	const accepted = V09 + " and " + V091 + " are accepted"
	for _, key := range old {
		if _, ok := m[key]; ok {
			return quote(key) + " is of v0.8; " + accepted
		}
	}
	switch v := m["version"].(type) {
	case nil:
		return "version is absent; " + accepted
	case string:
		if !Supported(v) {
			return "version " + quote(v) + " is not supported; " + accepted
		}
		return ""
	}
	return "version is no string; " + accepted
}
