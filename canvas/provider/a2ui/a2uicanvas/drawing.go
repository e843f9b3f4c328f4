package a2uicanvas

import (
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/a2ui"
)

// screen is what a panel sends to its Views.
type screen struct{ *panel }

// hello sends a View everything, now or when its last replay is a second ago.
func (i screen) hello(v canvas.View) {
	if i.ended {
		return
	}
	s := i.seat(v)
	wait := replayInterval - time.Since(s.last)
	if wait <= 0 {
		i.replay(v, s)
		return
	}
	if s.timer != nil {
		return
	}
	s.timer = time.AfterFunc(wait, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		if i.seats[v.Conn] == s && s.timer != nil {
			i.replay(v, s)
		}
	})
}

// replay sends a View everything.
func (i screen) replay(v canvas.View, s *seat) {
	s.stop()
	s.last = time.Now()
	for _, p := range i.replayParts() {
		i.postTo(v, p)
	}
	if m := i.statusMessage(); m != nil {
		i.postTo(v, m)
	}
}

// replayParts returns the parts that draw everything.
func (i screen) replayParts() (parts []ahp.Value) {
	step := "begin"
	for _, batch := range i.surfaces.Replay() {
		parts = append(parts, i.part(batch, step))
		step = "more"
	}
	if step == "begin" {
		parts = append(parts, i.part(nil, step))
	}
	return append(parts, i.part(nil, "end"))
}

// replayAll makes every View draw everything again, as a new revision.
func (i screen) replayAll() {
	i.rev++
	for _, p := range i.replayParts() {
		i.post(p)
	}
}

// partMeta is the metadata of a part.
type partMeta struct {
	MIMEType string   `json:"mimeType"`
	Rev      int64    `json:"x-ahp-canvas/rev"`
	Replay   string   `json:"x-ahp-canvas/replay,omitzero"`
	Media    []string `json:"x-ahp-canvas/media,omitzero"`
}

// part returns a part with messages, in the current revision.
func (i screen) part(list []ahp.Value, replay string) ahp.Value {
	if list == nil {
		list = []ahp.Value{}
	}
	meta := partMeta{MIMEType: a2ui.MIMEType(versionOf(list)), Rev: i.rev, Replay: replay}
	if replay == "begin" && i.p.opts.Media != nil {
		meta.Media = i.p.opts.Media.Origins()
	}
	return ahp.MustMarshal(struct {
		Kind     string      `json:"kind"`
		Metadata partMeta    `json:"metadata"`
		Data     []ahp.Value `json:"data"`
	}{"data", meta, list})
}

// versionOf returns the version of a list of messages: v0.9.1 if all have it.
func versionOf(list []ahp.Value) string {
	for _, m := range list {
		var head struct {
			Version string    `json:"version"`
			Extra   ahp.Value `json:",embed"`
		}
		if ahp.Unmarshal(m, &head) != nil || head.Version != a2ui.V091 {
			return a2ui.V09
		}
	}
	if len(list) == 0 {
		return a2ui.V09
	}
	return a2ui.V091
}

// batches cuts a list into parts that fit a message.
func batches(list []ahp.Value) (all [][]ahp.Value) {
	size := 0
	for _, m := range list {
		if len(all) == 0 || size+len(m)+1 > partBytes {
			all, size = append(all, nil), 0
		}
		all[len(all)-1] = append(all[len(all)-1], m)
		size += len(m) + 1
	}
	return all
}

// postParts sends accepted messages to all Views, each part as a revision.
func (i screen) postParts(list [][]ahp.Value) {
	for _, batch := range list {
		i.rev++
		i.post(i.part(batch, ""))
	}
}

func (i *panel) post(payload ahp.Value) {
	if err := i.h.Post(i.h.Context(), payload); err != nil && i.h.Context().Err() == nil {
		i.p.logger.Warn("a2ui: message not posted", "err", err)
	}
}

// postTo sends to one View; one that has left misses nothing.
func (i *panel) postTo(to canvas.View, payload ahp.Value) {
	_ = i.h.PostTo(i.h.Context(), to, payload)
}
