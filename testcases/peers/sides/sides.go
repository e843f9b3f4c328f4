// Package sides has the servers of the comparison, ours and others. Each runs
// in its own process and listens on a free port of loopback.
package sides

import (
	"errors"
	"net"
	"net/http"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// All are the sides by name.
var All = proc.Sides{
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

// Mark occurs once in each published message and nowhere else, so that
// receivers can count the messages of any protocol. A single byte might also be
// the length of a frame.
const Mark = "|~|"

// Title is the published text, of about 150 bytes.
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

// publisher returns the command "publish" of a side that publishes with one.
func publisher(one func(n int) error) func(proc.Request) (proc.Response, error) {
	return func(req proc.Request) (proc.Response, error) {
		for i := range req.N {
			if err := one(i); err != nil {
				return proc.Response{}, err
			}
		}
		return proc.Response{}, nil
	}
}

var errNotFound = errors.New("not found")
