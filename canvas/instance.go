package canvas

import (
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/session"
)

// OpenCanvas is an open instance as the agent's door tells of it.
type OpenCanvas struct {
	InstanceID    string                     `json:"instanceId"`
	Channel       string                     `json:"channel"`
	ExtensionID   string                     `json:"extensionId"`
	ExtensionName string                     `json:"extensionName,omitzero"`
	CanvasID      string                     `json:"canvasId"`
	DisplayName   string                     `json:"displayName,omitzero"`
	Title         string                     `json:"title,omitzero"`
	Status        string                     `json:"status,omitzero"`
	URL           string                     `json:"url,omitzero"`
	Availability  session.CanvasAvailability `json:"availability"`
}

func openCanvas(channel string, st CanvasState) OpenCanvas {
	return OpenCanvas{
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
	ext      Extension
	canvasID string
	closing  atomic.Bool // a person has asked for it to be closed

	reg     *Registration // who opened it last
	current Instance      // what it answered with; kept while stale, for its content
	handle  *Handle       // of current; dead while stale
	box     *mailbox      // to current; closed while stale
	saved   []byte
	mirror  mirror
	asked   bool // its provider is being asked to open it again

	opened time.Time  // the first time; never changes
	saving sync.Mutex // held over a commit of saved: one at a time
}

// asking notes that an instance's provider is asked to open it again, until done
// is called: what it says meanwhile counts, stale as the instance may be. A new
// one (nil) has no channel yet to say anything on.
func (s *Service) asking(i *instance) (done func()) {
	if i == nil {
		return func() {}
	}
	set := func(asked bool) { s.must(func(*channels.Tx) { i.asked = asked }) }
	set(true)
	return func() { set(false) }
}

// quiet ends everything that could still come from or go to the provider.
func (i *instance) quiet() {
	i.handle.cancel()
	i.box.close()
	i.mirror.stop()
}

func (i *instance) state(tx *channels.Tx) (CanvasState, bool) {
	state, _ := tx.State(i.channel)
	st, ok := state.(CanvasState)
	return st, ok
}

// makeStale marks instances whose provider is not there any more.
func (s *Service) makeStale(tx *channels.Tx, which func(*instance) bool) {
	for _, i := range slices.SortedFunc(maps.Values(s.instances), byKey) {
		st, ok := i.state(tx)
		if ok && st.Availability == session.Ready && which(i) {
			i.handle.cancel()
			i.box.close()
			var u Updated
			stale := session.Stale
			u.Availability.Present, u.Availability.Value = true, &stale
			s.append(tx, i.channel, u)
		}
	}
}

// writeRow brings an instance's catalogue row up to date with its state.
func (s *Service) writeRow(tx *channels.Tx, i *instance, st CanvasState) {
	sess, ok := sessionState(tx, i.key.session)
	at := slices.IndexFunc(sess.OpenCanvases, func(r session.OpenCanvasRef) bool { return r.Channel == i.channel })
	if !ok || at < 0 {
		return
	}
	row := sess.OpenCanvases[at]
	if same(row.Title, st.Title) && row.Availability == st.Availability {
		return
	}
	row.Title, row.Availability = st.Title, st.Availability
	rows := slices.Clone(sess.OpenCanvases)
	rows[at] = row.Encoded()
	s.append(tx, i.key.session, session.OpenCanvasesChanged{OpenCanvases: rows})
}

// addRow puts a new instance into the catalogue.
func (s *Service) addRow(tx *channels.Tx, i *instance, st CanvasState) {
	sess, _ := sessionState(tx, i.key.session)
	rows := append(slices.Clip(sess.OpenCanvases), session.OpenCanvasRef{
		InstanceID: st.InstanceID, Channel: i.channel, CanvasID: st.CanvasID,
		ExtensionID: st.ExtensionID, ExtensionName: st.ExtensionName, Title: st.Title, Availability: st.Availability,
	}.Encoded())
	s.append(tx, i.key.session, session.OpenCanvasesChanged{OpenCanvases: rows})
}

// remove takes an instance out of the catalogue, then its channel: nobody sees a
// row whose channel is gone.
func (s *Service) remove(tx *channels.Tx, i *instance) {
	if sess, ok := sessionState(tx, i.key.session); ok {
		rows := slices.DeleteFunc(slices.Clone(sess.OpenCanvases), func(r session.OpenCanvasRef) bool { return r.Channel == i.channel })
		s.append(tx, i.key.session, session.OpenCanvasesChanged{OpenCanvases: rows})
	}
	tx.Remove(i.channel)
	delete(s.instances, i.key)
	delete(s.byChannel, i.channel)
	i.quiet()
}

// sameInstance reports whether two answers of a provider are one value; values
// that cannot be compared are not.
func sameInstance(a, b Instance) bool {
	if a == nil || b == nil {
		return false
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	return va.Type() == vb.Type() && va.Comparable() && vb.Comparable() && va.Equal(vb)
}
