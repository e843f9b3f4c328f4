package canvas

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/session"
)

// The limits of a look at a canvas (canvas/PROTOCOL.md section 7.2).
const (
	// MaxOutline is the limit of an outline, in bytes.
	MaxOutline = 8 * 1024
	// MaxProblems is the limit of the problems of one look.
	MaxProblems = 50
	// MaxPicture is the limit of a picture, in bytes.
	MaxPicture = 1 << 20
	// MaxLookWait is the limit of LookArgs.Wait.
	MaxLookWait = 5 * time.Second
)

// MethodLook is the request with which a host asks a View what it shows. Only clients
// that declare a capability of this name receive it (canvas/PROTOCOL.md section 7.2).
const MethodLook = "x-ahp-canvas/look"

// LookArgs says what to look at, and how.
type LookArgs struct {
	Session    string        // its URI
	InstanceID string        // the open canvas
	Width      int           // of the picture, in CSS pixels; 0 is that of the newest View, or 1,280
	Height     int           // likewise; 0 is that of the newest View, or 800
	Theme      string        // "light" or "dark"; "" is that of the newest View, or light
	Full       bool          // the picture has the whole document and not only what fits
	Wait       time.Duration // how long the browser waits after the page was loaded
	NoPicture  bool          // only the outline and the problems are wanted
	// Progress is called if the picture takes longer than usual. It may be nil.
	Progress func(text string)
}

// Look is what people see of a canvas. Outline, Problems and Picture come from the canvas
// and are data: text in them is no instruction.
type Look struct {
	InstanceID   string                     `json:"instanceId"`         // the open canvas
	CanvasID     string                     `json:"canvasId"`           // the declared canvas
	Title        string                     `json:"title,omitzero"`     // "" if the provider set none
	Status       string                     `json:"status,omitzero"`    // likewise
	Availability session.CanvasAvailability `json:"availability"`       // ready or stale
	Revision     int64                      `json:"revision,omitzero"`  // the one that the page shows, if it has revisions
	IsPrivate    bool                       `json:"isPrivate,omitzero"` // a person hid the canvas: there is no outline, no problem and no picture
	Views        []LookView                 `json:"views"`              // the Views that render the canvas now, the newest first
	Source       string                     `json:"source,omitzero"`    // of outline and problems: "view", "browser" or "" if there is none
	Message      string                     `json:"message,omitzero"`   // what the page shows instead of the canvas
	Outline      string                     `json:"outline"`            // roles, names and values, one element a line
	Problems     []Problem                  `json:"problems"`           // those since the last look
	Dropped      int                        `json:"dropped,omitzero"`   // problems beyond the limit
	Width        int                        `json:"width,omitzero"`     // of the picture
	Height       int                        `json:"height,omitzero"`    // of the picture
	NoPicture    string                     `json:"noPicture,omitzero"` // why there is no picture
	Picture      []byte                     `json:"-"`                  // a PNG, or nil
}

// LookView is a View that renders a canvas.
type LookView struct {
	Name   string `json:"name,omitzero"`   // that its person chose; "" if none
	Role   string `json:"role"`            // of its token
	Width  int    `json:"width,omitzero"`  // in CSS pixels; 0 if the View does not say
	Height int    `json:"height,omitzero"` // likewise
	Theme  string `json:"theme,omitzero"`  // "light" or "dark"
	Idle   int    `json:"idle"`            // seconds since the person used it; -1 if it is not known
}

// Problem is something that went wrong in a page.
type Problem struct {
	Kind   string `json:"kind"`            // "error", "console", "blocked" or "read"
	Text   string `json:"text"`            // of the page, or of the browser
	File   string `json:"file,omitzero"`   // its path in the canvas
	Line   int    `json:"line,omitzero"`   // in File
	Column int    `json:"column,omitzero"` // in the line
	Time   string `json:"time,omitzero"`   // RFC 3339, UTC
	Count  int    `json:"count"`           // how often it happened
}

// Sight is what a page says about a canvas that it renders. It is untrusted.
type Sight struct {
	Phase    string    `json:"phase,omitzero"`    // "live", "starting" or "failed"
	Message  string    `json:"message,omitzero"`  // what the page shows instead of the canvas
	Width    int       `json:"width,omitzero"`    // of the frame, in CSS pixels
	Height   int       `json:"height,omitzero"`   // likewise
	Full     int       `json:"full,omitzero"`     // height of the whole document
	Theme    string    `json:"theme,omitzero"`    // "light" or "dark"
	Idle     int       `json:"idle,omitzero"`     // seconds since the person used the page
	Revision int64     `json:"revision,omitzero"` // of the document
	Outline  string    `json:"outline,omitzero"`  // of the document
	Problems []Problem `json:"problems,omitzero"` // since the last look
	Dropped  int       `json:"dropped,omitzero"`  // problems that the page did not keep
}

// Shot is what a browser of this machine saw of a canvas.
type Shot struct {
	Sight  Sight  // what the page said
	PNG    []byte // nil if it would be above [MaxPicture], or Reason says why
	Reason string // why there is no picture: the page could not hide what is private
	Width  int    // of the picture
	Height int    // likewise
}

// ShotArgs says what a browser of this machine renders.
type ShotArgs struct {
	URL        string        // the host's page for pictures of a session's canvases; its fragment has a token
	InstanceID string        // the canvas
	Width      int           // in CSS pixels
	Height     int           // likewise
	Theme      string        // "light" or "dark"
	Full       bool          // the whole document
	Wait       time.Duration // after the page was loaded
	// Starting is called if the browser has to be started first. It may be nil.
	Starting func()
}

// Bound cuts what a page said to the limits of a look.
func (s *Sight) Bound() {
	s.Phase, s.Theme, s.Message = cut(s.Phase, 16), cut(s.Theme, 8), cut(s.Message, 1024)
	s.Outline = cut(s.Outline, MaxOutline)
	if n := len(s.Problems); n > MaxProblems {
		s.Problems, s.Dropped = s.Problems[:MaxProblems], s.Dropped+n-MaxProblems
	}
	for i := range s.Problems {
		p := &s.Problems[i]
		p.Kind, p.Text, p.File, p.Time = cut(p.Kind, 16), cut(p.Text, 1024), cut(p.File, 512), cut(p.Time, 32)
	}
}

// Take takes what a page said about the document.
func (l *Look) Take(s Sight) {
	l.Message, l.Outline, l.Revision, l.Dropped = s.Message, s.Outline, s.Revision, s.Dropped
	if s.Problems != nil {
		l.Problems = s.Problems
	}
}

// Hide leaves out what the page shows, because a person made the canvas private.
func (l *Look) Hide() {
	l.IsPrivate, l.Source, l.NoPicture, l.Picture = true, "", "a person made this canvas private", nil
	l.Width, l.Height = 0, 0
	l.Take(Sight{Problems: []Problem{}})
}

// cut returns the beginning of a text, at most n bytes, and not a part of a character.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const mark = "…"
	if n > len(mark) {
		n -= len(mark)
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + mark
}
