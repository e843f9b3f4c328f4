package peer

import (
	"errors"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// envelope has the raw members of a message that JSON-RPC defines. An absent one is
// nil. Other members are ignored.
type envelope struct {
	jsonrpc, id, method, params, result, err []byte
	unreadable                               bool // the message is beyond a limit: only its id counts
}

// Member receives a member of the top object.
func (e *envelope) Member(name, raw []byte) {
	switch string(name) {
	case "jsonrpc":
		e.jsonrpc = raw
	case "id":
		e.id = raw
	case "method":
		e.method = raw
	case "params":
		e.params = raw
	case "result":
		e.result = raw
	case "error":
		e.err = raw
	}
}

// maxID is the most bytes that an id may have. Answers repeat it.
const maxID = 256

// refusal is the error for a message that Handle never receives.
type refusal struct {
	id     []byte // nil if it could not be read; the answer's id is null then
	err    *ahp.Error
	silent bool // the message is a notification, which must not be answered
	bare   bool // the message has no method, result or error: if its id is that of a call, it is the answer
}

func refuse(id []byte, code ahp.Code, text string) *refusal {
	return &refusal{id: id, err: &ahp.Error{Code: code, Message: text}}
}

// parse reads a message into env: a request, a notification, or an answer if
// env.method is nil. Otherwise it returns the refusal. The package comment has the
// rules.
func parse(msg []byte, o *Options, env *envelope) *refusal {
	kind, err := scan.Check(msg, o.limits(), env)
	if errors.Is(err, scan.ErrDepth) || errors.Is(err, scan.ErrValues) {
		return env.beyond(msg, err)
	}
	return env.judge(kind, err)
}

// beyond returns the refusal of a message that is nested too deep or has too many
// values. The sender waits for an answer with its id, so the refusal repeats the id if it
// can be found. An answer is not refused: it fails its call.
func (e *envelope) beyond(msg []byte, why error) *refusal {
	top := &outline{}
	if !scan.Skim(msg, top) || top.ids > 1 {
		top = &outline{}
	}
	*e = top.envelope
	e.unreadable = true
	if e.method == nil && (e.result != nil || e.err != nil) {
		return nil
	}
	id, _ := e.requestID()
	if _, err := scan.Check(id, scan.Limits{Values: 1}, nil); err != nil {
		id = nil
	}
	refused := refuse(id, ahp.CodeParse, "cannot read the message: "+why.Error())
	refused.bare = e.method == nil
	return refused
}

// outline receives the top members of a message that was not validated.
type outline struct {
	envelope
	ids int
}

// Member receives a member of the top object.
func (o *outline) Member(name, raw []byte) {
	if string(name) == "id" {
		o.ids++
	}
	o.envelope.Member(name, raw)
}

// judge returns the refusal of a message, or nil. kind and err are those of
// scan.Check.
func (e *envelope) judge(kind byte, err error) *refusal {
	switch {
	case errors.Is(err, scan.ErrSyntax):
		return refuse(nil, ahp.CodeParse, "the message is not one JSON value")
	case err != nil:
		return refuse(nil, ahp.CodeParse, "cannot read the message: "+err.Error())
	case kind == '[':
		return refuse(nil, ahp.CodeInvalidRequest, "batches are not part of the protocol: send one object per message")
	case kind != '{':
		return refuse(nil, ahp.CodeInvalidRequest, "a message is a JSON object")
	case e.method == nil && (e.result != nil || e.err != nil):
		return nil
	}
	return e.checkRequest()
}

func (e *envelope) checkRequest() *refusal {
	id, refused := e.requestID()
	if refused != nil {
		return refused
	}
	switch {
	case e.method == nil:
		refused = refuse(id, ahp.CodeInvalidRequest, "/method: required")
		refused.bare = true
		return refused
	case e.method[0] != '"':
		return refuse(id, ahp.CodeInvalidRequest, "/method: want a string")
	case e.result != nil || e.err != nil:
		return refuse(id, ahp.CodeInvalidRequest, "a message has a method, or a result or an error, never both")
	}
	refused = e.checkCall(id)
	if refused != nil && e.id == nil {
		refused.silent = true
	}
	return refused
}

// checkCall checks the version and the params of a message with a method.
func (e *envelope) checkCall(id []byte) *refusal {
	switch {
	case e.jsonrpc == nil:
		return refuse(id, ahp.CodeInvalidRequest, `/jsonrpc: required, "2.0"`)
	case e.jsonrpc[0] != '"' || textOf(e.jsonrpc) != "2.0":
		return refuse(id, ahp.CodeInvalidRequest, `/jsonrpc: want "2.0"`)
	case e.params == nil || e.params[0] == '{':
		return nil
	case e.params[0] == '[':
		return refuse(id, ahp.CodeInvalidParams, "/params: want an object, have an array: params are by name")
	}
	return refuse(id, ahp.CodeInvalidRequest, "/params: want an object")
}

// requestID returns the raw id, or nil if it is absent.
func (e *envelope) requestID() ([]byte, *refusal) {
	switch {
	case e.id == nil:
		return nil, nil
	case len(e.id) > maxID:
		return nil, refuse(nil, ahp.CodeInvalidRequest, "/id: longer than "+strconv.Itoa(maxID)+" bytes")
	case e.id[0] == '"' || e.id[0] == '-' || ('0' <= e.id[0] && e.id[0] <= '9'):
		return e.id, nil
	}
	return nil, refuse(nil, ahp.CodeInvalidRequest, "/id: want a number or a string")
}

// textOf decodes a valid raw string.
func textOf(raw []byte) string { return string(scan.Inside(raw)) }

// callID returns an answer's id. ok is false if this side cannot have chosen it.
func (e *envelope) callID() (id uint64, ok bool) {
	id, err := strconv.ParseUint(string(e.id), 10, 64)
	return id, err == nil
}

var errMalformedAnswer = ahp.Errorf(ahp.CodeInternal, "the answer could not be read: want jsonrpc, id, and at most one of result and error")

// answer returns the result or the error of an answer. An absent result is null:
// clients whose handler returns nothing omit it.
func (e *envelope) answer() (ahp.Value, *ahp.Error) {
	switch {
	case e.unreadable, e.jsonrpc == nil || e.jsonrpc[0] != '"' || textOf(e.jsonrpc) != "2.0":
		return nil, errMalformedAnswer
	case e.result != nil && e.err != nil:
		return nil, errMalformedAnswer
	case e.result == nil && e.err == nil:
		return ahp.Null, nil
	case e.result != nil:
		return ahp.Value(e.result), nil
	}
	var ae ahp.Error
	if err := ahp.Unmarshal(e.err, &ae); err != nil {
		return nil, errMalformedAnswer
	}
	return nil, &ae
}
