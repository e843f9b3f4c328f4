package extension

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// split returns all messages and the text between them.
func split(r io.Reader) (bodies []string, stray string, err error) {
	var printed strings.Builder
	f := newFrames(r, func(p []byte) { printed.Write(p) })
	for {
		body, err := f.next()
		if err != nil {
			return bodies, printed.String(), err
		}
		bodies = append(bodies, string(body))
	}
}

func message(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

func TestFrames(t *testing.T) {
	for _, test := range []struct {
		name, in, bodies, stray, err string
	}{
		{"nothing", "", "", "", "EOF"},
		{"two messages", message("{}") + message("[1]"), "{}|[1]", "", "EOF"},
		{"an empty one", message("") + message("{}"), "|{}", "", "EOF"},
		{"other headers, other cases, bare newlines", "content-length:2\nContent-Type: x\nX-Other: y\n\n{}", "{}", "", "EOF"},
		{"text before, between and after", "hi\n" + message("{}") + "there\r\n" + message("[]") + "bye", "{}|[]", "hi\nthere\r\nbye", "EOF"},
		{"text without a line's end", "hi" + message("{}"), "{}", "hi", "EOF"},
		{"a long line of text", strings.Repeat("x", 3*maxLine) + "\n" + message("{}"), "{}", strings.Repeat("x", 3*maxLine) + "\n", "EOF"},
		{"text that names a header", "got Content-Length: 5\nof 7 Content-Length: 5 " + message("{}"), "{}", "got Content-Length: 5\nof 7 Content-Length: 5 ", "EOF"},
		{"text with a colon", "warning: careful\n" + message("{}"), "{}", "warning: careful\n", "EOF"},
		{"no number", "Content-Length: two\r\n\r\n{}", "", "", "is not a number"},
		{"a negative number", "Content-Length: -2\r\n\r\n{}", "", "", "is not a number"},
		{"two lengths", "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "", "", "two Content-Length"},
		{"too long", "Content-Length: 4194305\r\n\r\n{}", "", "", "4194305 bytes"},
		{"far too long", "Content-Length: 99999999999999999999\r\n\r\n{}", "", "", "is not a number"},
		{"no length", "Content-Type: x\r\n\r\n{}", "", "", "no Content-Length"},
		{"a header without a colon", "Content-Length: 2\r\nnonsense\r\n\r\n{}", "", "", "has no colon"},
		{"too many headers", "Content-Length: 2\r\n" + strings.Repeat("X: y\r\n", 16) + "\r\n{}", "", "", "more than 16"},
		{"a giant header", "Content-Length: " + strings.Repeat("0", maxLine) + "2\r\n\r\n{}", "", "", "longer than 4096"},
		{"a giant second header", "Content-Length: 2\r\nX: " + strings.Repeat("y", maxLine) + "\r\n\r\n{}", "", "", "longer than 4096"},
		{"an end in a header", "Content-Length: 2\r\nX", "", "", "within its headers"},
		{"an end in a body", "Content-Length: 20\r\n\r\n{}", "", "", "within its body"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(test.in), iotest.OneByteReader(strings.NewReader(test.in))} {
				bodies, stray, err := split(r)
				if got := strings.Join(bodies, "|"); got != test.bodies || stray != test.stray {
					t.Errorf("bodies %q, text %q; want %q, %q", got, stray, test.bodies, test.stray)
				}
				if !strings.Contains(err.Error(), test.err) || (test.err != "EOF") != errors.Is(err, errFraming) {
					t.Errorf("error %v, want %s", err, test.err)
				}
			}
		})
	}
}

// A message after text without a newline is found wherever the text ends in the read
// buffer.
func TestFramesBehindLongText(t *testing.T) {
	for n := 2*maxLine - 100; n < 2*maxLine+100; n++ {
		text := strings.Repeat("x", n)
		bodies, stray, err := split(strings.NewReader(text + message("{}") + text))
		if len(bodies) != 1 || bodies[0] != "{}" || stray != text+text || !errors.Is(err, io.EOF) {
			t.Fatalf("after %d bytes: %q, %d bytes of text, %v", n, bodies, len(stray), err)
		}
	}
}

// FuzzFrames checks that the result does not depend on how the input is read, that
// errors are io.EOF or errFraming, and that no byte is returned twice.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("hi\nContent-Length: 2\r\n\r\n{}there"))
	f.Add([]byte("Content-Length: 2\nContent-Type: x\n\n{}Content-Length: 0\r\n\r\n"))
	f.Add([]byte("hiContent-Length: 9999999\r\n\r\n"))
	f.Add(bytes.Repeat([]byte("x"), 2*maxLine))
	f.Fuzz(func(t *testing.T, in []byte) {
		bodies, stray, err := split(bytes.NewReader(in))
		again, strayAgain, errAgain := split(iotest.OneByteReader(bytes.NewReader(in)))
		if strings.Join(bodies, "|") != strings.Join(again, "|") || stray != strayAgain || err.Error() != errAgain.Error() {
			t.Errorf("read byte by byte: %q %q %v, else %q %q %v", again, strayAgain, errAgain, bodies, stray, err)
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, errFraming) {
			t.Errorf("an error of another kind: %v", err)
		}
		total := len(stray)
		for _, b := range bodies {
			total += len(b)
		}
		if total > len(in) {
			t.Errorf("%d bytes out of %d", total, len(in))
		}
	})
}

// sink is a standard input that records written bytes.
type sink struct{ bytes.Buffer }

func (*sink) Close() error                     { return nil }
func (*sink) SetWriteDeadline(time.Time) error { return nil }

// An invalid body gets an error response, and the next one is read.
func TestWireRejectsBodies(t *testing.T) {
	for body, want := range map[string]string{
		`{]}`: "null -32700", "{\"id\":1,\"method\":\"\xff\"}": "1 -32700", `{"id":"a","id":"b","method":"x"}`: `"b" -32700`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200): "null -32700",
		`[]`: "null -32600", `{}`: "null -32600", `7`: "null -32600", `{"id":{},"method":"x"}`: "null -32600",
		`{"id":7,"method":"session.send","params":{"prompt":"half \ud83d"}}`: "7 -32700",
	} {
		var out sink
		in := newFrames(strings.NewReader(message(body)+message(`{"jsonrpc":"2.0","id":1,"method":"next"}`)), func([]byte) {})
		w := newWire(in, &out, func(error) {})
		var req jsonOnly
		if err := w.ReadObject(&req); err != nil || req.Method != "next" {
			t.Errorf("%.40s: read %q, %v", body, req.Method, err)
		}
		close(w.more) // ends the writer after the queued messages
		<-w.done
		_, text, _ := strings.Cut(out.String(), "\r\n\r\n")
		var got struct {
			ID    json.RawMessage
			Error struct{ Code int }
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || fmt.Sprintf("%s %d", got.ID, got.Error.Code) != want {
			t.Errorf("%.40s: answered %q, want %s", body, out.String(), want)
		}
	}
}

// jsonOnly accepts only requests, as jsonrpc2's decoder does.
type jsonOnly struct{ Method string }

func (j *jsonOnly) UnmarshalJSON(data []byte) error {
	var req jsonrpc2.Request
	if err := json.Unmarshal(data, &req); err != nil {
		return err
	}
	if req.Method == "" {
		return errors.New("no method")
	}
	j.Method = req.Method
	return nil
}
