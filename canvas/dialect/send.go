package dialect

import (
	"errors"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/session"
	"github.com/ahp-canvas/ahp-canvas/session/chat"
)

// translator translates one connection.
type translator struct {
	*dialect
	grant ws.Grant // of the connection

	mu       sync.Mutex
	answers  map[string]translate // by the id of a request
	replaced map[int64]ahp.Value  // refused actions, by clientSeq
	wanted   map[string]bool      // channels that the client has a snapshot of
	ended    []string             // channels whose mirrors are not needed any more
	marked   bool                 // the client has sent a mark, so it knows them

	// Of the goroutine that sends.
	sessions  map[string]*mirror // by the session's URI
	instances map[string]instance
}

// instance is what the client knows of an open canvas.
type instance struct {
	state canvas.CanvasState // before the projection
	sent  ahp.Value          // the projection that it has
}

// mirror is what the client knows of a session and its chat, before the projection.
type mirror struct {
	session session.State
	chat    chat.State
	meta    ahp.Value   // the session's _meta as the client has it
	summary chatSummary // the chat in the session's state as the client has it
}

// translate replaces the result of a response, which is given decoded.
type translate func(r *response, result object) error

// response is a message that answers a request.
type response struct {
	JSONRPC string    `json:"jsonrpc"`
	ID      ahp.Value `json:"id"`
	Result  ahp.Value `json:"result,omitzero"`
	Error   *object   `json:"error,omitzero"`
}

var errNoResult = errors.New("no result")

func (how translate) apply(r *response) error {
	if r.Result == nil {
		return errNoResult
	}
	var result object
	if err := ahp.Unmarshal(r.Result, &result); err != nil {
		return err
	}
	return how(r, result)
}

func (r *response) set(o object) error {
	r.Result = ahp.MustMarshal(o)
	return nil
}

// notification is a message without an answer.
type notification struct {
	JSONRPC string    `json:"jsonrpc"`
	Method  string    `json:"method"`
	Params  ahp.Value `json:"params,omitzero"`
}

// expect has a request's result translated.
func (t *translator) expect(id []byte, how translate) {
	if id == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.answers[string(id)] = how
}

// Send implements [server.Translator].
func (t *translator) Send(text []byte) [][]byte {
	t.forget()
	var head struct {
		Method string    `json:"method,omitzero"`
		Params ahp.Value `json:"params,omitzero"`
		ID     ahp.Value `json:"id,omitzero"`
		Rest   ahp.Value `json:",embed"`
	}
	switch err := ahp.Unmarshal(text, &head); {
	case err != nil:
		return [][]byte{text}
	case head.Method == ahp.ActionNotification.Name:
		return t.sendAction(head.Params)
	case head.Method != "":
		return [][]byte{notify(head.Method, t.catalog(head.Method, head.Params), text)}
	}
	return [][]byte{t.sendResponse(text)}
}

// forget drops the mirrors of channels that the client has left.
func (t *translator) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, uri := range t.ended {
		delete(t.sessions, uri)
		delete(t.instances, uri)
	}
	t.ended = nil
}

// notify returns a notification, or text if its params have not changed.
func notify(method string, params, text ahp.Value) []byte {
	if params == nil {
		return text
	}
	return ahp.MustMarshal(notification{"2.0", method, params})
}

// sendResponse translates the answer to a request.
func (t *translator) sendResponse(text []byte) []byte {
	var r response
	if ahp.Unmarshal(text, &r) != nil {
		return text
	}
	t.mu.Lock()
	how := t.answers[string(r.ID)]
	delete(t.answers, string(r.ID))
	t.mu.Unlock()
	switch {
	case r.Error != nil:
		if !plainError(*r.Error) {
			return text
		}
	case how == nil:
		return text
	default:
		if err := how.apply(&r); err != nil {
			r.Result, r.Error = nil, &object{"code": ahp.MustMarshal(ahp.CodeInternal), "message": ahp.MustMarshal("this host could not translate its answer: " + err.Error())}
		}
	}
	return ahp.MustMarshal(r)
}

// plainError replaces the code of a provider's error, whose number means something else in
// 1.1, and reports whether it was one.
func plainError(e object) bool {
	var code ahp.Code
	if ahp.Unmarshal(e["code"], &code) != nil || code != ahp.CodeCanvasProvider {
		return false
	}
	e.set("code", ahp.CodeInternal)
	return true
}

// catalog translates the params of a notification about sessions. It returns nil if it
// concerns none.
func (t *translator) catalog(method string, params ahp.Value) ahp.Value {
	var p object
	if ahp.Unmarshal(params, &p) != nil {
		return nil
	}
	switch method {
	case session.SessionAdded.Name:
		var s object
		if ahp.Unmarshal(p["summary"], &s) != nil {
			return nil
		}
		p.set("summary", t.summary(s))
	case session.SessionRemoved.Name:
		p.set("session", t.spell(p.text("session")))
	case session.SessionSummaryChanged.Name:
		var changes object
		if ahp.Unmarshal(p["changes"], &changes) != nil {
			return nil
		}
		changes.useDirectories()
		t.chatsOf(p.text("session"), changes)
		p.set("session", t.spell(p.text("session")))
		p.set("changes", changes)
	default:
		return nil
	}
	return ahp.MustMarshal(p)
}
