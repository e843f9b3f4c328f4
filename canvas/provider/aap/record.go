package aap

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Record is a stored interaction. The members have the order of the file.
type Record struct {
	// ID is a UUID.
	ID string `json:"id"`
	// Timestamp is UTC with milliseconds, as in 2026-05-18T15:30:00.000Z.
	Timestamp string `json:"timestamp"`
	// CanvasFile is the page.
	CanvasFile string `json:"canvasFile"`
	// Action is what the person did.
	Action string `json:"action"`
	// Element names the element; "" if there is none.
	Element string `json:"element,omitzero"`
	// Data is any JSON; nil if there is none.
	Data ahp.Value `json:"data,omitzero"`
	// Summary is one line for the agent; see [Summary].
	Summary string `json:"summary"`
}

// timeLayout is the form of timestamps.
const timeLayout = "2006-01-02T15:04:05.000Z"

// fileStamp replaces what a file name should not have.
var fileStamp = strings.NewReplacer(":", "-", ".", "-")

// FileName returns the name of the record's file.
func (r Record) FileName() string { return fileStamp.Replace(r.Timestamp) + "-" + r.ID + ".json" }

// encode returns the content of the record's file.
func (r Record) encode() []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, ahp.MustMarshal(r), "", "  ") // valid JSON always can be
	return b.Bytes()
}

// stampTime returns the time in a record's file name.
func stampTime(name string) (time.Time, bool) {
	const length = len("2026-05-18T15-30-00-000Z")
	if len(name) < length {
		return time.Time{}, false
	}
	stamp := []byte(name[:length])
	stamp[13], stamp[16], stamp[19] = ':', ':', '.'
	at, err := time.Parse(timeLayout, string(stamp))
	return at, err == nil
}

// maxDataPreview is the limit of the data in a summary, in code points.
const maxDataPreview = 200

// Summary describes an interaction in one line, as in
// "User submit 'form' on page.html with data: {"rating":5}". Data is compact JSON, cut at
// 200 code points. Control characters and characters that reorder text become spaces, so
// the line is safe in a terminal.
func Summary(in Interaction) string {
	s := "User " + in.Action
	if in.Element != "" {
		s += " '" + in.Element + "'"
	}
	s += " on " + in.CanvasFile
	if data := preview(in.Data); data != "" {
		s += " with data: " + data
	}
	return clean(s)
}

// preview returns data for a summary; "" if it has nothing to show.
func preview(data ahp.Value) string {
	switch data.Kind() {
	case '{', '[', '"':
	default:
		return ""
	}
	v := data.Clone()
	if v.Compact() != nil || len(v) <= 2 {
		return ""
	}
	text := string(v)
	if short := cut(text, maxDataPreview); short != text {
		return short + "..."
	}
	return text
}

// Line returns the notification of a record: "[CANVAS] page.html: User click on page.html".
func Line(r Record) string { return "[CANVAS] " + clean(r.CanvasFile+": "+r.Summary) }

// cut returns the first n code points of a text.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// clean replaces each run of characters that end a line, control a terminal or reorder
// text by one space.
func clean(s string) string {
	if !strings.ContainsFunc(s, unsafeInLine) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	inRun := false
	for _, c := range s {
		run := unsafeInLine(c)
		switch {
		case !run:
			b.WriteRune(c)
		case !inRun:
			b.WriteByte(' ')
		}
		inRun = run
	}
	return b.String()
}

func unsafeInLine(c rune) bool {
	return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || unicode.Is(unicode.Bidi_Control, c)
}

// OneLine returns text as one line of at most n code points, cleaned as in [Summary].
func OneLine(text string, n int) string { return cut(strings.TrimSpace(clean(text)), n) }
