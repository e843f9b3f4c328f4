package conform

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

var anything = ahp.Value(`"$*"`)

// volatile are the members whose values change from run to run.
var volatile = map[string]bool{
	"createdAt": true, "modifiedAt": true, "message": true, "rejectionReason": true, "serverInfo": true, "activeSessions": true,
}

// received returns the expectation that matches a frame of the host.
func (s *transcriber) received(e entry) string {
	frame := ahp.Value(s.withoutSecrets(e.frame))
	if !frame.IsValid() {
		return string(anything)
	}
	m := read[message](frame)
	if m.Method != "" && m.ID != nil {
		s.asks[fmt.Sprint(e.link, string(m.ID))] = fmt.Sprintf("$ask%d", len(s.asks)+1)
	}
	members := read[map[string]ahp.Value](frame)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		v := members[name]
		if name == "id" && m.Method != "" {
			members[name] = ahp.MustMarshal(s.asks[fmt.Sprint(e.link, string(m.ID))])
		} else if name != "id" {
			members[name] = s.expect(name, v)
		}
	}
	return string(ahp.MustMarshal(members))
}

// expect returns the expectation that matches a value in a frame of the host.
func (s *transcriber) expect(name string, v ahp.Value) ahp.Value {
	switch v.Kind() {
	case '{':
		return s.expectObject(v)
	case '[':
		list := read[[]ahp.Value](v)
		if name == "items" && !s.allCreated(list) {
			return anything
		}
		for i := range list {
			list[i] = s.expect("", list[i])
		}
		return ahp.MustMarshal(list)
	case '"':
		if !volatile[name] {
			return s.expectString(v)
		}
	case '0':
		if name == "serverSeq" || name == "fromSeq" {
			return s.expectSeq(v)
		}
	}
	if volatile[name] {
		return anything
	}
	return v
}

// allCreated reports whether all sessions in a list were created during the
// recording.
func (s *transcriber) allCreated(items []ahp.Value) bool {
	for _, item := range items {
		row := read[struct {
			Resource string `json:"resource,omitzero"`
		}](item)
		if sessionWord.MatchString(row.Resource) && !s.created[row.Resource] {
			return false
		}
	}
	return true
}

func (s *transcriber) expectObject(v ahp.Value) ahp.Value {
	members := read[map[string]ahp.Value](v)
	if _, reserved := members["$..."]; reserved {
		return anything
	}
	resource := read[string](members["resource"])
	for _, name := range slices.Sorted(maps.Keys(members)) {
		sub := members[name]
		switch {
		case volatile[name]:
			members[name] = anything
		case name == ahp.MetaResume && sub.Kind() == '"':
			members[name] = s.expectSecret(read[string](sub))
		case name == "state" && (resource == ahp.RootURI || s.before[resource]):
			members[name] = anything
		default:
			members[name] = s.expect(name, sub)
		}
	}
	return ahp.MustMarshal(members)
}

// expectSecret binds a client's resume secret, which is never written.
func (s *transcriber) expectSecret(secret string) ahp.Value {
	if s.resume[secret] == "" {
		s.resume[secret] = fmt.Sprintf("$secret%d", len(s.resume)+1)
	}
	return ahp.MustMarshal(s.resume[secret])
}

// expectSeq binds a sequence number that a client uses later.
func (s *transcriber) expectSeq(v ahp.Value) ahp.Value {
	if !s.seqs[string(v)] {
		return anything
	}
	s.seqs["bound "+string(v)] = true
	return ahp.MustMarshal("$s" + string(v))
}

// expectString binds a canvas channel to a name. A text that looks like a name
// cannot be expressed, so it becomes "$*".
func (s *transcriber) expectString(v ahp.Value) ahp.Value {
	text := read[string](v)
	if nameLike.MatchString(text) || hasAddress(text) {
		return anything
	}
	if canvasURI.FindString(text) != text || text == "" {
		return v
	}
	if s.channels[text] == "" {
		s.channels[text] = "$canvas" + strconv.Itoa(len(s.channels)+1)
	}
	return ahp.MustMarshal(s.channels[text])
}
