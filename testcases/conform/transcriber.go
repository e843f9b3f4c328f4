package conform

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases"
)

// transcriber writes the entries of a recording as lines of a transcript.
type transcriber struct {
	text    string          // all frames, concatenated
	secrets []string        // texts that no line may contain
	seqs    map[string]bool // sequence numbers that a client sends as lastSeenServerSeq
	created map[string]bool // sessions created during the recording
	before  map[string]bool // sessions that existed before the recording

	channels map[string]string // canvas channel -> "$canvas1"
	resume   map[string]string // resume secret of a client -> "$secret1"
	asks     map[string]string // by link and id of a request from the host, such as "$ask1"
}

var (
	canvasURI  = regexp.MustCompile(`ahp-canvas:/[A-Za-z0-9._~-]+`)
	seenSeq    = regexp.MustCompile(`("lastSeenServerSeq"\s*:\s*)(\d+)`)
	nameLike   = regexp.MustCompile(`\$[a-z*.{]`)
	answerID   = regexp.MustCompile(`("id"\s*:\s*)("(?:[^"\\]|\\.)*"|-?[0-9.eE+-]+)`)
	tokenValue = regexp.MustCompile(`("token"\s*:\s*)"(?:[^"\\]|\\.)*"`)
)

// newTranscriber scans the whole exchange first, because whether a value gets a
// name depends on later frames.
func newTranscriber(entries []entry, secrets []string) *transcriber {
	s := &transcriber{
		secrets: secrets, seqs: map[string]bool{}, created: map[string]bool{}, before: map[string]bool{},
		channels: map[string]string{}, asks: map[string]string{}, resume: map[string]string{},
	}
	asked := map[string]message{}
	var text strings.Builder
	for _, e := range entries {
		text.WriteString(e.frame)
		m := read[message](ahp.Value(e.frame))
		key := fmt.Sprint(e.link, string(m.ID))
		switch {
		case e.op == '>' && m.Method != "" && m.ID != nil:
			asked[key] = m
			if m.Params.LastSeenServerSeq != nil {
				s.seqs[string(m.Params.LastSeenServerSeq)] = true
			}
		case e.op == '<' && m.Method == "" && m.Result != nil:
			s.answered(asked[key], m)
		}
	}
	s.text = text.String()
	return s
}

// answered learns from a response which sessions exist.
func (s *transcriber) answered(request, answer message) {
	if request.Method == "createSession" {
		s.created[request.Params.Channel] = true
		return
	}
	result := read[struct {
		Snapshot  *ahp.Snapshot  `json:"snapshot,omitzero"`
		Snapshots []ahp.Snapshot `json:"snapshots,omitzero"`
	}](answer.Result)
	if result.Snapshot != nil {
		result.Snapshots = append(result.Snapshots, *result.Snapshot)
	}
	for _, snapshot := range result.Snapshots {
		if !s.created[snapshot.Resource] && sessionWord.MatchString(snapshot.Resource) {
			s.before[snapshot.Resource] = true
		}
	}
}

func (s *transcriber) needs() string {
	var words []string
	if strings.Contains(s.text, `canvas`) {
		words = append(words, testcases.NeedsCanvas)
	}
	if strings.Contains(s.text, `"canvasProviders"`) {
		words = append(words, testcases.NeedsProvider)
	}
	return strings.Join(words, " ")
}

// sessionsBefore returns the names of the sessions, except the default one,
// that must exist before the recording can be played.
func (s *transcriber) sessionsBefore() string {
	var names []string
	for _, uri := range slices.Sorted(maps.Keys(s.before)) {
		if name := strings.TrimPrefix(uri, "ahp-session:/"); name != "default" {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func (s *transcriber) line(e entry) string {
	name := connName(e.link)
	switch e.op {
	case 'o':
		return "open " + name
	case 'c':
		return "close " + name
	case 'x':
		return "cut " + name
	case 'h':
		return name + "<close " + strconv.Itoa(int(e.closed))
	case '>':
		return name + "> " + s.sent(e)
	}
	return name + "< " + s.received(e)
}

// connName returns the name of a connection: a, b, … z, c26, c27 …
func connName(l Link) string {
	if l < 26 {
		return string(rune('a' + l))
	}
	return fmt.Sprintf("c%d", l)
}

// sent returns a client's frame verbatim, except that values which the host
// chose become names.
func (s *transcriber) sent(e entry) string {
	text := s.withoutSecrets(e.frame)
	literal := text
	text = canvasURI.ReplaceAllStringFunc(text, func(uri string) string {
		if name := s.channels[uri]; name != "" {
			return name
		}
		return uri
	})
	for secret, name := range s.resume {
		text = strings.ReplaceAll(text, `"`+secret+`"`, `"`+name+`"`)
	}
	text = seenSeq.ReplaceAllStringFunc(text, func(m string) string {
		parts := seenSeq.FindStringSubmatch(m)
		if s.seqs["bound "+parts[2]] {
			return parts[1] + "$s" + parts[2]
		}
		return m
	})
	m := read[message](ahp.Value(e.frame))
	if name := s.asks[fmt.Sprint(e.link, string(m.ID))]; m.Method == "" && name != "" {
		if m.ID.Kind() == '"' {
			name = `"` + name + `"`
		}
		text = strings.Replace(text, answerID.FindString(text), answerID.FindStringSubmatch(text)[1]+name, 1)
	}
	if plain(literal) {
		return text
	}
	return strconv.Quote(literal) // verbatim, without names
}

// plain reports whether a frame can stand on a line without quotes.
func plain(text string) bool {
	return text != "" && ahp.Value(text).IsValid() && !strings.ContainsAny(text, "\n\r") && !nameLike.MatchString(text) &&
		strings.TrimSpace(text) == text && text[0] != '"'
}

// withoutSecrets removes tokens, and secrets of canvases' addresses, from a frame, including those written with
// escapes.
func (s *transcriber) withoutSecrets(text string) string {
	if v := ahp.Value(text); strings.Contains(text, `\`) && v.IsValid() {
		if readable := string(unescaped(v)); s.secret(readable) {
			text = readable
		}
	}
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, "token")
	}
	if strings.Contains(text, `"authenticate"`) {
		text = tokenValue.ReplaceAllString(text, `${1}"token"`)
	}
	return withoutAddresses(text)
}

// secret reports whether a text contains a token.
func (s *transcriber) secret(text string) bool {
	return strings.Contains(text, `"authenticate"`) || slices.ContainsFunc(s.secrets, func(secret string) bool { return strings.Contains(text, secret) })
}

// unescaped returns v with no unnecessary escapes in strings and member names.
func unescaped(v ahp.Value) ahp.Value {
	switch v.Kind() {
	case '"':
		return ahp.MustMarshal(read[string](v))
	case '[':
		list := read[[]ahp.Value](v)
		for i := range list {
			list[i] = unescaped(list[i])
		}
		return ahp.MustMarshal(list)
	case '{':
		members := read[map[string]ahp.Value](v)
		for name := range members {
			members[name] = unescaped(members[name])
		}
		return ahp.MustMarshal(members)
	}
	return v
}
