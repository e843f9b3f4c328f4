package conform

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// namespace maps the names of one case: what a transcript calls
// ahp-session:/default and c1 is ahp-session:/<prefix>default and <prefix>c1 on
// the wire. The prefix occurs nowhere else, so removing it is exact.
type namespace struct {
	prefix  string
	version string // offered instead of 0.6.0 if the host speaks only older versions; "" keeps 0.6.0
	agent   string // the host's provider of sessions, "canvas" in transcripts; "" keeps "canvas"
	hand    bool   // a client stands in for the host that changes a title
	standIn bool   // clients stand in for the demo extensions, which the transcript must not see
}

// offer returns the version that cases offer to the host.
func (n *namespace) offer() string {
	if n.version != "" {
		return n.version
	}
	return ahp.V0_6_0.String()
}

var (
	sessionURI = regexp.MustCompile(`ahp-session:/([A-Za-z0-9])`)
	legacyURI  = regexp.MustCompile(`(^|")canvas:/([A-Za-z0-9])`) // a session, for editors
	encodedURI = regexp.MustCompile(`(ahp-chat://default/|mcp:/ahp-canvas/)([A-Za-z0-9_-]+)`)
	clientID   = regexp.MustCompile(`("clientId"\s*:\s*")([^"])`)
	ofClient   = regexp.MustCompile(`"client:([^"])`)
	demoID     = regexp.MustCompile(`("extensionId"\s*:\s*")(demo"|other")`)
	theVersion = []byte(`"0.6.0"`)
	provider   = regexp.MustCompile(`("provider"\s*:\s*")([^"]*)(")`)
)

// out converts a frame of a transcript for the host. It works on bytes, because
// some frames of transcripts are not JSON.
func (n *namespace) out(frame []byte) []byte {
	frame = n.prefixed(frame)
	frame = reEncode(frame, n.prefixed)
	frame = clientID.ReplaceAll(frame, []byte("${1}"+n.prefix+"${2}"))
	frame = ofClient.ReplaceAll(frame, []byte(`"client:`+n.prefix+"${1}"))
	if n.standIn {
		frame = demoID.ReplaceAll(frame, []byte("${1}client:"+n.prefix+"${2}"))
	}
	if n.version != "" {
		frame = bytes.ReplaceAll(frame, theVersion, []byte(`"`+n.version+`"`))
	}
	return n.rename(frame, "canvas", n.agent)
}

// in converts a frame of the host for the transcript. It returns false if the
// frame concerns only others.
func (n *namespace) in(frame []byte) ([]byte, bool) {
	frame, ours := n.filter(frame)
	if ours {
		frame, ours = n.asServer(frame)
	}
	if !ours {
		return nil, false
	}
	frame = reEncode(frame, n.plain)
	frame = n.plain(frame)
	if n.version != "" {
		frame = bytes.ReplaceAll(frame, []byte(`"`+n.version+`"`), theVersion)
	}
	return n.rename(frame, n.agent, "canvas"), true
}

// prefixed adds the prefix to the names of sessions.
func (n *namespace) prefixed(text []byte) []byte {
	text = sessionURI.ReplaceAll(text, []byte("ahp-session:/"+n.prefix+"${1}"))
	return legacyURI.ReplaceAll(text, []byte("${1}canvas:/"+n.prefix+"${2}"))
}

// plain removes the prefix.
func (n *namespace) plain(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte(n.prefix), nil)
}

// reEncode replaces sessions inside the names of chats and of channels of cards, which have
// them in base64url.
func reEncode(frame []byte, change func([]byte) []byte) []byte {
	return encodedURI.ReplaceAllFunc(frame, func(m []byte) []byte {
		parts := encodedURI.FindSubmatch(m)
		name, err := base64.RawURLEncoding.Strict().DecodeString(string(parts[2]))
		if err != nil || !utf8.Valid(name) {
			return m
		}
		return base64.RawURLEncoding.AppendEncode(bytes.Clone(parts[1]), change(name))
	})
}

// rename replaces the provider of sessions in a frame, if it is from, by to.
func (n *namespace) rename(frame []byte, from, to string) []byte {
	if n.agent == "" {
		return frame
	}
	return provider.ReplaceAllFunc(frame, func(m []byte) []byte {
		parts := provider.FindSubmatch(m)
		if string(parts[2]) != from {
			return m
		}
		return []byte(string(parts[1]) + to + string(parts[3]))
	})
}

// session returns the URI on the wire of a session of the transcript.
func (n *namespace) session(name string) string { return "ahp-session:/" + n.prefix + name }

var (
	rootWord = []byte(`"root/session`)
	itemWord = []byte(`"items"`)
)

// filter removes other sessions: items of listSessions, and notifications of
// the root about them.
func (n *namespace) filter(frame []byte) ([]byte, bool) {
	switch {
	case bytes.Contains(frame, rootWord):
		var note struct {
			ID     ahp.Value `json:"id,omitzero"`
			Method string    `json:"method,omitzero"`
		}
		if ahp.Unmarshal(frame, &note) != nil || note.ID != nil || !bytes.HasPrefix([]byte(note.Method), rootWord[1:]) {
			return frame, true
		}
		return frame, bytes.Contains(frame, []byte(n.prefix))
	case bytes.Contains(frame, itemWord):
		return n.filterItems(frame), true
	}
	return frame, true
}

func (n *namespace) filterItems(frame []byte) []byte {
	var answer, result map[string]ahp.Value
	var items []ahp.Value
	if ahp.Unmarshal(frame, &answer) != nil || ahp.Unmarshal(answer["result"], &result) != nil || ahp.Unmarshal(result["items"], &items) != nil {
		return frame
	}
	ours := []ahp.Value{}
	for _, item := range items {
		var row struct {
			Resource string `json:"resource,omitzero"`
		}
		if ahp.Unmarshal(item, &row) != nil || bytes.Contains(item, []byte(n.prefix)) || sessionURI.FindString(row.Resource)+legacyURI.FindString(row.Resource) == "" {
			ours = append(ours, item)
		}
	}
	if len(ours) == len(items) {
		return frame
	}
	result["items"] = ahp.MustMarshal(ours)
	answer["result"] = ahp.MustMarshal(result)
	return ahp.MustMarshal(answer)
}
