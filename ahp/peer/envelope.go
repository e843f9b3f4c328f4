package peer

import (
	"errors"
	"strconv"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/scan"
)

// envelope is the top object of a message: the raw values of the members that
// JSON-RPC knows, nil where absent. Other members, case variants included, are
// ignored.
type envelope struct {
	jsonrpc, id, method, params, result, err []byte
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

// maxID bounds an id, which is echoed, in bytes.
const maxID = 256

// refusal is a message that is answered here.
type refusal struct {
	id  []byte // nil where it could not be read; then null stands in the answer
	err *ahp.Error
	// silent says that it is a notification, which nothing may answer.
	silent bool
}

func refuse(id []byte, code ahp.Code, text string) *refusal {
	return &refusal{id: id, err: &ahp.Error{Code: code, Message: text}}
}

// parse reads a message up to its params: a request, a notification, an answer
// (env.method is nil), or why it is none of them. doc.go has the rules.
func parse(msg []byte, o *Options, env *envelope) *refusal {
	kind, err := scan.Check(msg, o.limits(), env)
	return env.judge(kind, err)
}

// judge says why a message whose value begins with kind is refused, if it is.
func (e *envelope) judge(kind byte, err error) *refusal {
	switch {
	case errors.Is(err, scan.ErrSyntax):
		return refuse(nil, ahp.CodeParse, "the message is not one JSON value")
	case err != nil:
		return refuse(nil, ahp.CodeParse, "the message is outside the limits: "+err.Error())
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
		return refuse(id, ahp.CodeInvalidRequest, "/method: required")
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

// checkCall checks what a message with a method may have wrong.
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

// requestID returns the raw id: nil where it is absent.
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

// textOf returns the text of a valid raw string.
func textOf(raw []byte) string { return string(scan.Inside(raw)) }

// callID returns the number of an answer's id, where it is one that this side
// can have given out.
func (e *envelope) callID() (uint64, bool) {
	n, err := strconv.ParseUint(string(e.id), 10, 64)
	return n, err == nil
}

var errMalformedAnswer = ahp.Errorf(ahp.CodeInternal, "the answer could not be read: want jsonrpc, id, and exactly one of result and error")

// answer reads the result or the error of an answer.
func (e *envelope) answer() (ahp.Value, *ahp.Error) {
	switch {
	case e.jsonrpc == nil || e.jsonrpc[0] != '"' || textOf(e.jsonrpc) != "2.0":
		return nil, errMalformedAnswer
	case (e.result == nil) == (e.err == nil):
		return nil, errMalformedAnswer
	case e.result != nil:
		return ahp.Value(e.result), nil
	}
	var ae ahp.Error
	if err := ahp.Unmarshal(e.err, &ae); err != nil {
		return nil, errMalformedAnswer
	}
	return nil, &ae
}
