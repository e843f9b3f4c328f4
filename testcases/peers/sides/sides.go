// Package sides holds the servers of the comparison, ours and others. Each is
// made for a process of its own and serves on a free port of loopback.
package sides

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// Kinds are all sides by name.
var Kinds = proc.Kinds{
	"host":       func() (*proc.Side, error) { return hostSide(false) },
	"host-store": func() (*proc.Side, error) { return hostSide(true) },

	"centrifuge": centrifugeSide,
	"nats":       natsSide,
	"notify":     notifySide,
	"limit":      limitSide,

	"call-bare":  callSide(bareLibrary),
	"call-peer":  callSide(peerLibrary),
	"call-stock": callSide(stockLibrary),
	"call-xexp":  callSide(xexpLibrary),
	"call-jrpc2": callSide(jrpc2Library),
	"call-mcp":   callSide(mcpLibrary),

	"answer-bare":  answerSide(bareLibrary),
	"answer-peer":  answerSide(peerLibrary),
	"answer-stock": answerSide(stockLibrary),
	"answer-xexp":  answerSide(xexpLibrary),
	"answer-jrpc2": answerSide(jrpc2Library),
	"answer-mcp":   answerSide(mcpLibrary),

	"http":   httpSide,
	"frames": framesSide,
	"bare":   bareSide,
}

// Mark stands once in each published message and nowhere else, so that receivers
// count messages of any protocol by it. One byte would not do: it could be the
// length of a frame.
const Mark = "|~|"

// Title is the text of about 150 bytes that is published.
var Title = Mark + strings.Repeat("t", 147)

// listen serves a handler on loopback and returns its host:port.
func listen(h http.Handler) (addr string, srv *http.Server, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	srv = &http.Server{Handler: h}
	go func() { _ = srv.Serve(l) }()
	return l.Addr().String(), srv, nil
}

// publisher is the command "publish" of a side that knows how to publish one.
func publisher(one func(n int) error) func(proc.Ask) (proc.Answer, error) {
	return func(ask proc.Ask) (proc.Answer, error) {
		for i := range ask.N {
			if err := one(i); err != nil {
				return proc.Answer{}, err
			}
		}
		return proc.Answer{}, nil
	}
}

var errNotThere = errors.New("not there")
