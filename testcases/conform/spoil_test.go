package conform_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// object is a JSON object. The spoiler decodes its numbers as json.Number,
// which keeps their digits.
type object = map[string]any

// spoiler is a conform.Watcher with one fault. It passes the frames that the
// fault concerns to it, with the client's request.
type spoiler struct {
	fault fault

	mu       sync.Mutex
	requests map[string]object       // requests, by link and id
	held     map[conform.Link]object // a frame that a fault holds back, by connection
	// leaked are frames that a fault sends to connections that must not get
	// them: each goes out once on every other connection, before its next
	// frame.
	leaked []leak
	shown  map[string]bool
}

type leak struct {
	from  conform.Link
	frame object
}

// exchange is one frame as a fault sees it.
type exchange struct {
	*spoiler
	link  conform.Link
	frame object
	// request is the request that frame answers, or nil.
	request object
}

func newSpoiler(f fault) *spoiler {
	return &spoiler{fault: f, requests: map[string]object{}, shown: map[string]bool{}, held: map[conform.Link]object{}}
}

func (s *spoiler) Opened(conform.Link, string) {}

func (s *spoiler) Ended(conform.Link, bool, ws.CloseCode) {}

func (s *spoiler) Frame(l conform.Link, toHost bool, raw []byte) [][]byte {
	var out [][]byte
	if !toHost {
		out = s.leaks(l)
	}
	return append(out, s.spoil(l, toHost, raw)...)
}

// leaks returns what other connections leaked since the last frame on this one.
func (s *spoiler) leaks(l conform.Link) (out [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, leaked := range s.leaked {
		if key := fmt.Sprint(l, i); leaked.from != l && !s.shown[key] {
			s.shown[key] = true
			out = append(out, encode(leaked.frame))
		}
	}
	return out
}

func (s *spoiler) spoil(l conform.Link, toHost bool, raw []byte) [][]byte {
	frame := object{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&frame) != nil || bytes.Contains(raw, []byte("conform-ping-")) {
		return [][]byte{raw}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := exchange{spoiler: s, link: l, frame: frame}
	key := fmt.Sprint(l, frame["id"])
	spoil := s.fault.toClient
	if toHost {
		spoil = s.fault.toHost
		s.requests[key] = frame
	} else if frame["method"] == nil {
		x.request = s.requests[key]
	}
	if spoil == nil {
		return [][]byte{raw}
	}
	before := encode(frame)
	frames := spoil(x)
	if len(frames) == 1 && bytes.Equal(encode(frames[0]), before) {
		return [][]byte{raw} // verbatim
	}
	var out [][]byte
	for _, f := range frames {
		out = append(out, encode(f))
	}
	return out
}

func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

// at returns the value at a path, or nil.
func at(v any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			o, _ := v.(object)
			v = o[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return nil
			}
			v = list[step]
		}
	}
	return v
}

func objectAt(v any, path ...any) object {
	o, _ := at(v, path...).(object)
	return o
}

// asks reports whether a frame answers a request of this method.
func (x exchange) asks(method string) bool { return x.request != nil && x.request["method"] == method }

// action returns the params of an action frame, or nil.
func (x exchange) action() object {
	if x.frame["method"] != "action" {
		return nil
	}
	return objectAt(x.frame, "params")
}

func (x exchange) actionType() any { return at(x.action(), "action", "type") }

// same forwards the frame, changed or not.
func (x exchange) same() []object { return []object{x.frame} }

// onAction returns a fault that changes the params of each action.
func onAction(change func(x exchange, params object)) func(exchange) []object {
	return func(x exchange) []object {
		if p := x.action(); p != nil {
			change(x, p)
		}
		return x.same()
	}
}

// onAnswer returns a fault that changes the responses to a method.
func onAnswer(method string, change func(x exchange)) func(exchange) []object {
	return func(x exchange) []object {
		if x.asks(method) {
			change(x)
		}
		return x.same()
	}
}

// drop returns a fault that loses frames.
func drop(lost func(exchange) bool) func(exchange) []object {
	return func(x exchange) []object {
		if lost(x) {
			return nil
		}
		return x.same()
	}
}

// code returns a fault that changes an error code.
func code(right, wrong string) func(exchange) []object {
	return func(x exchange) []object {
		if e := objectAt(x.frame, "error"); e != nil && fmt.Sprint(e["code"]) == right {
			e["code"] = json.Number(wrong)
		}
		return x.same()
	}
}

// snapshots calls change with each snapshot of a response.
func (x exchange) snapshots(change func(object)) {
	if s := objectAt(x.frame, "result", "snapshot"); s != nil {
		change(s)
	}
	list, _ := at(x.frame, "result", "snapshots").([]any)
	for i := range list {
		change(objectAt(list, i))
	}
}

// onSnapshot returns a fault that changes snapshots.
func onSnapshot(change func(x exchange, s object)) func(exchange) []object {
	return func(x exchange) []object {
		x.snapshots(func(s object) { change(x, s) })
		return x.same()
	}
}
