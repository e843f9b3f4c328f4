package bridgecanvas

import (
	"crypto/rand"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// Limits of the outputs that agents read piecewise.
const (
	maxOutputs   = 32
	outputsBytes = 32 << 20
	outputsFor   = 10 * time.Minute
	readDefault  = 32 << 10
	readMost     = 40 << 10
)

// CodeOutputNotFound is the error's code for an output that is not kept.
const CodeOutputNotFound = "output_not_found"

// browserOutputs keeps outputs that do not fit an answer, in memory.
type browserOutputs struct {
	mu    sync.Mutex
	kept  []keptOutput // the oldest first
	bytes int
	longs int
}

type keptOutput struct {
	id   string
	text []byte
	at   time.Time
}

// fit returns an output as an answer has it: itself, or what read_output needs.
func (o *browserOutputs) fit(now time.Time, v ahp.Value) ahp.Value {
	if len(v) <= maxInline {
		return v
	}
	return ahp.MustMarshal(struct {
		OK       bool   `json:"ok"`
		OutputID string `json:"output_id"`
		Bytes    int    `json:"bytes"`
		SHA256   string `json:"sha256"`
		Preview  string `json:"preview"`
	}{true, o.keep(now, v), len(v), digest(v), cutText(v, previewSize)})
}

func (o *browserOutputs) keep(now time.Time, v ahp.Value) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	id := rand.Text()
	o.kept = append(o.kept, keptOutput{id, v, now})
	o.bytes += len(v)
	for len(o.kept) > maxOutputs || o.bytes > outputsBytes {
		o.drop()
	}
	o.expire(now)
	return id
}

func (o *browserOutputs) drop() {
	o.bytes -= len(o.kept[0].text)
	o.kept[0] = keptOutput{}
	o.kept = o.kept[1:]
}

func (o *browserOutputs) expire(now time.Time) {
	for len(o.kept) > 0 && now.Sub(o.kept[0].at) >= outputsFor {
		o.drop()
	}
}

// read answers read_output: bytes of the output's JSON, cut between characters.
func (o *browserOutputs) read(now time.Time, in browserInput) (ahp.Value, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire(now)
	for _, k := range o.kept {
		if k.id != in.OutputID {
			continue
		}
		n := in.Length
		if n == 0 {
			n = readDefault
		}
		at := min(in.Offset, len(k.text))
		for at < len(k.text) && !utf8.RuneStart(k.text[at]) {
			at++
		}
		text := cutText(k.text[at:], min(n, readMost))
		for len(ahp.MustMarshal(text)) > maxInline { // quotes are escaped
			text = cutText([]byte(text), len(text)/2)
		}
		return ahp.MustMarshal(struct {
			OutputID string `json:"output_id"`
			Offset   int    `json:"offset"`
			Total    int    `json:"total"`
			Text     string `json:"text"`
		}{k.id, at, len(k.text), text}), nil
	}
	return nil, canvas.Errorf(CodeOutputNotFound, "outputs are kept ten minutes")
}

// enter counts a long call; it returns false if there are too many.
func (o *browserOutputs) enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.longs >= maxLongs {
		return false
	}
	o.longs++
	return true
}

func (o *browserOutputs) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.longs--
}
