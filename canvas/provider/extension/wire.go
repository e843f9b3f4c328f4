package extension

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Limits on the messages that a process has not read from its standard input.
const (
	maxQueued    = 8 << 20          // bytes
	writeTimeout = 10 * time.Second // for writing one message
)

// errStuck is why the host ends a process that does not read its standard input.
var errStuck = errors.New("it did not read its standard input")

// input is the pipe to a process's standard input: an *os.File.
type input interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// wire is the stream that jsonrpc2 reads and writes. jsonrpc2 holds a lock while it
// writes, so a write only queues the message. jsonrpc2 also closes the connection at
// the first invalid body, so wire answers invalid bodies instead of passing them on.
type wire struct {
	in     *frames
	out    input
	broken func(error) // called at least once with the reason why messages end

	mu     sync.Mutex
	queue  [][]byte
	bytes  int
	closed bool
	more   chan struct{} // capacity 1; wakes the writer
	done   chan struct{} // closed when the writer has ended
	read   chan struct{} // closed when the reader has ended
}

func newWire(in *frames, out input, broken func(error)) *wire {
	w := &wire{in: in, out: out, broken: broken, more: make(chan struct{}, 1), done: make(chan struct{}), read: make(chan struct{})}
	go w.write()
	return w
}

// ReadObject reads the next valid message. It runs on jsonrpc2's reader.
func (w *wire) ReadObject(v any) error {
	for {
		body, err := w.in.next()
		if err != nil {
			w.broken(err)
			close(w.read) // jsonrpc2 reads no more after an error
			return err
		}
		wrong := decode(body, v)
		if wrong == nil {
			return nil
		}
		reflect.ValueOf(v).Elem().SetZero() // otherwise fields of this message would remain in the next
		answer, isResponse := errorResponse(body, wrong)
		if !isResponse {
			w.push(answer)
		} else if decode(answer, v) == nil {
			return nil
		}
	}
}

// decode decodes a message, or returns why it is invalid.
func decode(body []byte, v any) *ahp.Error {
	var plain ahp.Value
	if err := ahp.Unmarshal(body, &plain); err != nil {
		return ahp.Errorf(ahp.CodeParse, "%v", err)
	}
	if depth, values := ahp.Measure(body); depth > maxDepth || values > maxValues {
		return ahp.Errorf(ahp.CodeParse, "more than %d values, or nested more than %d levels deep", maxValues, maxDepth)
	}
	var framed bytes.Buffer
	fmt.Fprintf(&framed, "Content-Length: %d\r\n\r\n", len(body))
	framed.Write(body)
	if err := (jsonrpc2.VSCodeObjectCodec{}).ReadObject(bufio.NewReader(&framed), v); err != nil {
		return ahp.Errorf(ahp.CodeInvalidRequest, "not a JSON-RPC message")
	}
	return nil
}

// Limits of a message. The host applies its stricter limits to results later.
const (
	maxDepth  = 128
	maxValues = 1 << 18
)

// errorResponse returns the error response to an invalid body. If the body is itself a
// response (isResponse), the host's request that waits for it must get the error; otherwise it
// would wait until its deadline. errorResponse decodes the id leniently: JavaScript that cuts
// a string within an emoji writes invalid JSON, but the id is still readable.
func errorResponse(body []byte, wrong *ahp.Error) (answer []byte, isResponse bool) {
	var head struct {
		ID     *jsonrpc2.ID `json:"id"`
		Method any          `json:"method"`
	}
	if json.Unmarshal(body, &head) != nil {
		head.ID = nil
	}
	text := wrong.Message
	if isResponse = head.ID != nil && head.Method == nil; isResponse {
		text = "invalid response from the extension: " + text
	}
	answer, _ = json.Marshal(map[string]any{ // cannot fail: only an id, a number and strings
		"jsonrpc": "2.0", "id": head.ID, "error": map[string]any{"code": wrong.Code, "message": text},
	})
	return answer, isResponse
}

// WriteObject queues a message.
func (w *wire) WriteObject(v any) error {
	var framed bytes.Buffer
	if err := (jsonrpc2.VSCodeObjectCodec{}).WriteObject(&framed, v); err != nil {
		return err
	}
	return w.enqueue(framed.Bytes())
}

// push queues a body with its header.
func (w *wire) push(body []byte) {
	_ = w.enqueue(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(body), body))
}

// enqueue queues a message for the writer, and never blocks.
func (w *wire) enqueue(frame []byte) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return jsonrpc2.ErrClosed
	}
	if w.bytes += len(frame); w.bytes > maxQueued {
		w.mu.Unlock()
		w.broken(errStuck)
		return jsonrpc2.ErrClosed
	}
	w.queue = append(w.queue, frame)
	select {
	case w.more <- struct{}{}:
	default:
	}
	w.mu.Unlock()
	return nil
}

// write is the writer's goroutine. It ends at Close or at the first error.
func (w *wire) write() {
	defer close(w.done)
	defer w.out.Close()
	for range w.more {
		w.mu.Lock()
		frames, closed := w.queue, w.closed
		w.queue, w.bytes = nil, 0
		w.mu.Unlock()
		if closed {
			return
		}
		for _, frame := range frames {
			_ = w.out.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := w.out.Write(frame); errors.Is(err, os.ErrDeadlineExceeded) {
				w.broken(errStuck)
				return
			} else if err != nil {
				w.broken(io.EOF) // the process has ended; its exit status has the reason
				return
			}
		}
	}
}

// Close ends the writer, which closes the process's standard input. It drops queued
// messages.
func (w *wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		close(w.more)
		_ = w.out.SetWriteDeadline(time.Unix(1, 0)) // interrupts a blocked write
	}
	return nil
}
