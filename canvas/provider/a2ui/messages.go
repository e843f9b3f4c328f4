package a2ui

import (
	"bytes"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// wrapped has the members that distinguish wrappings.
type wrapped struct {
	Messages   ahp.Value `json:"messages,omitzero"`
	Operations ahp.Value `json:"a2ui_operations,omitzero"`
	Type       ahp.Value `json:"type,omitzero"`
	Resource   ahp.Value `json:"resource,omitzero"`
	Data       ahp.Value `json:"data,omitzero"`
	Metadata   ahp.Value `json:"metadata,omitzero"`
	MIMEType   ahp.Value `json:"mimeType,omitzero"`
	MediaType  ahp.Value `json:"mediaType,omitzero"`
	Extra      ahp.Value `json:",embed"`
}

// maxWrappings limits how many wrappings are around each other.
const maxWrappings = 4

// Messages returns the messages in every wrapping that agents use: a list, one message,
// {"messages":[…]}, an A2A data part of either MIME type whose data is a list or an object,
// an MCP embedded resource, and AG-UI's {"a2ui_operations":[…]}. The elements of a list can
// be wrapped too. What is inside is not validated. The error is an [*Error] with a path
// relative to v.
func Messages(v ahp.Value) ([]ahp.Value, error) {
	if !v.IsValid() {
		return nil, failed("", "want valid JSON without duplicate members")
	}
	return unwrap(v, "", maxWrappings)
}

func failed(path, message string) *Error {
	return &Error{Code: CodeValidationFailed, Path: path, Message: message}
}

// unwrap returns the messages in a value at a path.
func unwrap(v ahp.Value, path string, levels int) ([]ahp.Value, error) {
	if levels == 0 {
		return nil, failed(path, "messages are wrapped too many times")
	}
	switch v.Kind() {
	case '[':
		return unwrapList(v, path, levels)
	case '{':
	default:
		return nil, failed(path, "want a list of A2UI messages, or one message")
	}
	if unwrapped(v) {
		return []ahp.Value{v.Clone()}, nil
	}
	var w wrapped
	if err := ahp.Unmarshal(v, &w); err != nil {
		return nil, failed(path, err.Error())
	}
	switch {
	case w.Messages != nil:
		return unwrap(w.Messages, path+"/messages", levels-1)
	case w.Operations != nil:
		return unwrap(w.Operations, path+"/a2ui_operations", levels-1)
	case w.Resource != nil:
		return unwrapResource(w.Resource, path+"/resource", levels-1)
	case w.Data != nil:
		return unwrapPart(w, path, levels-1)
	}
	return []ahp.Value{v.Clone()}, nil
}

// wrapNames are the names of the members that wrap messages.
var wrapNames = [][]byte{[]byte(`"messages"`), []byte(`"a2ui_operations"`), []byte(`"resource"`), []byte(`"data"`)}

// unwrapped reports whether an object has no member that wraps messages, which its text
// shows for most; false also if it is not sure.
func unwrapped(v ahp.Value) bool {
	return bytes.IndexByte(v, '\\') < 0 && // a name could be written with escapes
		!slices.ContainsFunc(wrapNames, func(name []byte) bool { return bytes.Contains(v, name) })
}

// unwrapList unwraps each element of a list. An element that is no object stays, so that
// it is reported with its index.
func unwrapList(v ahp.Value, path string, levels int) (all []ahp.Value, err error) {
	var list []ahp.Value
	if err := ahp.Unmarshal(v, &list); err != nil {
		return nil, failed(path, err.Error())
	}
	all = make([]ahp.Value, 0, len(list))
	for n, e := range list {
		if e.Kind() != '{' {
			all = append(all, e.Clone())
			continue
		}
		some, err := unwrap(e, path+pointer(itoa(n)), levels)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// unwrapPart returns the messages of an A2A part: {"data":…} with a MIME type.
func unwrapPart(w wrapped, path string, levels int) ([]ahp.Value, error) {
	mime := PartMIMEType(w.Metadata, w.MIMEType, w.MediaType)
	if !IsMIMEType(mime) {
		return nil, failed(path, "a data part of type "+quote(mime)+"; want "+MIMEv091+" or "+MIMEv09)
	}
	return unwrap(w.Data, path+"/data", levels)
}

// PartMIMEType returns the MIME type of an A2A part: the member mimeType of its metadata,
// or else its own member mimeType or mediaType. It is "" if there is none.
func PartMIMEType(metadata ahp.Value, own ...ahp.Value) string {
	var meta struct {
		MIMEType ahp.Value `json:"mimeType,omitzero"`
		Extra    ahp.Value `json:",embed"`
	}
	if metadata.Kind() == '{' && ahp.Unmarshal(metadata, &meta) == nil {
		own = slices.Insert(own, 0, meta.MIMEType)
	}
	for _, v := range own {
		if s := text(v); s != "" {
			mime, _, _ := strings.Cut(s, ";")
			return strings.TrimSpace(mime)
		}
	}
	return ""
}

// unwrapResource returns the messages in the text of an MCP resource.
func unwrapResource(v ahp.Value, path string, levels int) ([]ahp.Value, error) {
	var r struct {
		MIMEType ahp.Value `json:"mimeType,omitzero"`
		Text     ahp.Value `json:"text,omitzero"`
		Extra    ahp.Value `json:",embed"`
	}
	if v.Kind() != '{' || ahp.Unmarshal(v, &r) != nil {
		return nil, failed(path, "want an MCP resource with mimeType and text")
	}
	if mime := PartMIMEType(nil, r.MIMEType); !IsMIMEType(mime) {
		return nil, failed(path+"/mimeType", "the resource has the type "+quote(mime)+"; want "+MIMEv091+" or "+MIMEv09)
	}
	inner := ahp.Value(text(r.Text))
	if !inner.IsValid() {
		return nil, failed(path+"/text", "the text of the resource is not valid JSON")
	}
	return unwrap(inner, path+"/text", levels)
}

// text returns a value that is a string, or "".
func text(v ahp.Value) (s string) {
	if v.Kind() == '"' {
		_ = ahp.Unmarshal(v, &s) // v is valid
	}
	return s
}
