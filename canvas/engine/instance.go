package engine

import (
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/channels"
)

func openCanvas(channel string, st canvas.CanvasState) canvas.OpenCanvas {
	return canvas.OpenCanvas{
		InstanceID: st.InstanceID, Channel: channel, ExtensionID: st.ExtensionID, ExtensionName: st.ExtensionName,
		CanvasID: st.CanvasID, DisplayName: st.DisplayName,
		Title: deref(st.Title), Status: deref(st.Status), URL: deref(st.URL), Availability: st.Availability,
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// instance is what the host knows of an open canvas beside its channel's state.
// Its fields are guarded by the log's mutex, but for those that never change
// and those that guard themselves.
type instance struct {
	key      key
	channel  string
	ext      canvas.Extension
	canvasID string
	closing  atomic.Bool // a person has asked for it to be closed

	reg     *Registration   // who opened it last
	current canvas.Instance // what it answered with; kept while stale, for its content
	handle  *handle         // of current; dead while stale
	box     *mailbox        // to current; closed while stale
	saved   []byte
	mirror  mirror
	asked   bool // its provider is being asked to open it again
	unheard bool // it was asked, and went away before it answered

	opened time.Time  // the first time; never changes
	saving sync.Mutex // held over a commit of saved: one at a time
}

// asking notes that an instance's provider is asked to open it again, until done
// is called: what it says meanwhile counts, stale as the instance may be. A new
// one (nil) has no channel yet to say anything on.
func (s *Engine) asking(i *instance) (done func()) {
	if i == nil {
		return func() {}
	}
	set := func(asked bool) { s.log.View(func(*channels.ReadTx) { i.asked = asked }) }
	set(true)
	return func() { set(false) }
}

// quiet ends everything that could still come from or go to the provider.
func (i *instance) quiet() {
	i.handle.life.end()
	i.box.close()
	i.mirror.stop()
}

func (i *instance) state(tx stateReader) (canvas.CanvasState, bool) {
	state, _ := tx.State(i.channel)
	st, ok := state.(canvas.CanvasState)
	return st, ok
}

// sameInstance reports whether two answers of a provider are one value; values
// that cannot be compared are not.
func sameInstance(a, b canvas.Instance) bool {
	if a == nil || b == nil {
		return false
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	return va.Type() == vb.Type() && va.Comparable() && vb.Comparable() && va.Equal(vb)
}
