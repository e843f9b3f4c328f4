package appview

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/attach"
)

// The kinds of a ReadAnswer.
const (
	// KindDocument has a part of the document.
	KindDocument = "document"
	// KindSame says that the shell has the document already: ReadArgs.Tag names it.
	KindSame = "same"
	// KindFile has a part of a file, in base64.
	KindFile = "file"
	// KindWords says why the canvas is not shown.
	KindWords = "words"
)

// ReadArgs are the arguments of the tool canvas_view_read (canvas/PROTOCOL.md section 7.6).
type ReadArgs struct {
	// Channel and Ticket are those of the result of open_canvas.
	Channel string `json:"channel"`
	Ticket  string `json:"ticket"`
	// View names the View: 32 hexadecimal digits that the shell chose. A new one is attached.
	View string `json:"view"`
	// Path is the content path of a document; "" is the one that the canvas shows.
	Path string `json:"path,omitzero"`
	// Part is the index of a part of a long document.
	Part int `json:"part,omitzero"`
	// Tag is that of a document which the shell shows.
	Tag string `json:"tag,omitzero"`
	// File asks for the unchanged file at Path, in place of a document.
	File bool `json:"file,omitzero"`
	// Link asks for an address at which the person sees the canvas in the page, in place of
	// the document.
	Link bool `json:"link,omitzero"`
}

// ReadAnswer answers canvas_view_read.
type ReadAnswer struct {
	// Kind is one of the kinds above.
	Kind string `json:"kind"`
	// Tag names the current document.
	Tag string `json:"tag,omitzero"`
	// Part of Parts is in Text.
	Part  int    `json:"part,omitzero"`
	Parts int    `json:"parts,omitzero"`
	Text  string `json:"text,omitzero"`
	// Type is the media type of a file.
	Type string `json:"type,omitzero"`
	// Words are for the person.
	Words string `json:"words,omitzero"`
	// Link is an address for the person; only if ReadArgs.Link asked for it.
	Link string `json:"link,omitzero"`
	State
}

// document is a document that was made.
type document struct {
	path, tag string
	parts     []string
}

// What a chat shows in place of a canvas that it cannot show (canvas/PROTOCOL.md section 7.6).
const (
	wordsWebApp  = "This canvas is a web app. A chat cannot run it; its page can."
	wordsDirect  = "This canvas is at an address of its own."
	wordsNothing = "This canvas has nothing to show yet."
	wordsNoMaker = "This host does not show canvases in chats; its page does."
	wordsStale   = "Not up to date: the program that provides this canvas does not run now."
)

// Read attaches a View if it does not exist, and returns the document of its canvas as one
// text, in parts. What cannot be shown is of [KindWords]. Its errors are *[canvas.Error].
func (a *Apps) Read(ctx context.Context, args ReadArgs) (ReadAnswer, error) {
	if err := a.admit(args.Channel, args.Ticket, args.View); err != nil {
		return ReadAnswer{}, err
	}
	v, err := a.enter(args.Channel, args.View)
	if err != nil {
		return ReadAnswer{}, err
	}
	if !v.renew() {
		return ReadAnswer{}, canvas.Errorf(CodeViewLost, "the host does not know this view any more: attach again")
	}
	v.mu.Lock()
	at, cached := v.attached, v.doc
	v.mu.Unlock()
	if errors.Is(at.Err(), attach.ErrClosed) {
		v.end()
		return ReadAnswer{}, errNotFound()
	}
	st := at.State()
	answer := ReadAnswer{Kind: KindWords, State: stateOf(st)}
	if args.Link {
		if a.opts.Link != nil {
			answer.Link = a.opts.Link(args.Channel)
		}
		return answer, nil
	}
	path, words := a.place(st, args.Path)
	if words != "" {
		answer.Words = words
		return answer, nil
	}
	if args.File {
		return answer.withFile(ctx, at, args)
	}
	if args.Part > 0 && cached.path == path {
		return answer.with(cached, args), nil
	}
	doc, err := a.document(ctx, at, path)
	if err != nil {
		if answer.Words = a.wordsFor(ctx, st, err); answer.Words == "" {
			return ReadAnswer{}, canvas.Errorf(canvas.CodeHandlerError, "the document could not be read")
		}
		return answer, nil
	}
	v.mu.Lock()
	v.doc = doc
	v.mu.Unlock()
	return answer.with(doc, args), nil
}

// place returns the content path of the document, or why there is none for a chat.
func (a *Apps) place(st canvas.CanvasState, asked string) (path, words string) {
	var meta map[string]ahp.Value
	_ = ahp.Unmarshal(st.Meta, &meta) // absent without members
	url := text(st.URL)
	switch {
	case a.opts.Document == nil:
		return "", wordsNoMaker
	case meta["x-ahp-canvas/http"] != nil:
		return "", wordsWebApp
	case url == "":
		return "", wordsNothing
	case ahp.SchemeOf(url) != ahp.SchemeContent:
		return "", wordsDirect
	}
	_, p, err := canvas.ParseContentURI(url)
	if err != nil {
		return "", wordsNothing
	}
	if strings.HasPrefix(asked, "/") {
		return asked, ""
	}
	return p.String(), ""
}

// wordsFor returns what a person reads of an error, "" if it is not for people.
func (a *Apps) wordsFor(ctx context.Context, st canvas.CanvasState, err error) string {
	switch {
	case ctx.Err() != nil:
		return ""
	case stateOf(st).Availability != "ready":
		return wordsStale
	case errors.Is(err, ahp.ErrNotFound):
		return "This canvas has no such page."
	}
	if _, internal := errors.AsType[*ahp.Error](err); internal {
		return "This canvas could not be read."
	}
	return "This canvas cannot be shown in a chat: " + err.Error() + "."
}

// document makes one text of a document.
func (a *Apps) document(ctx context.Context, at *attach.View, path string) (document, error) {
	select {
	case a.linking <- struct{}{}:
		defer func() { <-a.linking }()
	case <-ctx.Done():
		return document{}, ctx.Err()
	}
	html, err := a.opts.Document(ctx, func(ctx context.Context, path string) (canvas.Content, error) {
		p, err := canvas.ParseContentPath(path)
		if err != nil {
			return canvas.Content{}, ahp.ErrNotFound
		}
		return at.Read(ctx, p, "")
	}, path, first())
	if err != nil {
		return document{}, err
	}
	sum := sha256.Sum256([]byte(html))
	return document{path: path, tag: hex.EncodeToString(sum[:8]), parts: split(html)}, nil
}

// MaxFile is the limit of a file that a canvas in a chat reads, in bytes.
const MaxFile = 4 << 20

// filePart is how many bytes of a file are in a part: a multiple of 3, so that the parts are
// one base64 text.
const filePart = PartBytes / 4 * 3

// withFile returns the answer with a part of a file.
func (r ReadAnswer) withFile(ctx context.Context, at *attach.View, args ReadArgs) (ReadAnswer, error) {
	r.Words = "This canvas has no such file."
	p, err := canvas.ParseContentPath(args.Path)
	if err != nil {
		return r, nil
	}
	c, err := at.Read(ctx, p, "")
	switch {
	case ctx.Err() != nil:
		return ReadAnswer{}, canvas.Errorf(canvas.CodeTimeout, "the file could not be read in time")
	case err != nil:
		return r, nil
	case len(c.Data) > MaxFile:
		r.Words = fmt.Sprintf("This file has %d bytes; in a chat at most %d are allowed.", len(c.Data), MaxFile)
		return r, nil
	}
	parts := max(1, (len(c.Data)+filePart-1)/filePart)
	if args.Part < 0 || args.Part >= parts {
		r.Words = fmt.Sprintf("This file has %d parts.", parts)
		return r, nil
	}
	part := c.Data[args.Part*filePart : min(len(c.Data), (args.Part+1)*filePart)]
	r.Kind, r.Words, r.Type, r.Part, r.Parts = KindFile, "", c.ContentType, args.Part, parts
	r.Text = base64.StdEncoding.EncodeToString(part)
	return r, nil
}

// split cuts a text into parts, never inside a character.
func split(s string) (parts []string) {
	for len(s) > PartBytes {
		n := PartBytes
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		parts, s = append(parts, s[:n]), s[n:]
	}
	return append(parts, s)
}

// with returns the answer with a part of a document.
func (r ReadAnswer) with(d document, args ReadArgs) ReadAnswer {
	r.Kind, r.Tag, r.Part, r.Parts = KindDocument, d.tag, args.Part, len(d.parts)
	switch {
	case args.Tag == d.tag && args.Part == 0:
		r.Kind, r.Part, r.Parts = KindSame, 0, 0
	case args.Part < 0 || args.Part >= len(d.parts):
		r.Kind, r.Words = KindWords, fmt.Sprintf("This page has %d parts.", len(d.parts))
	default:
		r.Text = d.parts[args.Part]
	}
	return r
}
