package extension

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Limits on the messages that a process writes to its standard output.
const (
	maxLine    = 4 << 10 // bytes of a header line
	maxHeaders = 16      // headers of a message
	maxBody    = 4 << 20 // bytes of a message's body
)

// errFraming is why the host ends a process whose output contains an invalid header. The
// host cannot find the next message after it.
var errFraming = errors.New("it wrote an invalid message")

// frames splits a process's standard output into messages. It passes text between
// messages to stray in pieces; stray must not retain them.
type frames struct {
	r       *bufio.Reader
	stray   func([]byte)
	partial []byte // the end of a long piece of text, which can contain the start of a header
}

func newFrames(r io.Reader, stray func([]byte)) *frames {
	return &frames{r: bufio.NewReaderSize(r, maxLine), stray: stray}
}

var lengthName = []byte("Content-Length:")

// next returns the body of the next message, at most 4 MiB. An error is final: io.EOF
// at the end of the output, or one that wraps errFraming.
func (f *frames) next() ([]byte, error) {
	length, headers := -1, 0
	for {
		line, err := f.line()
		if errors.Is(err, bufio.ErrBufferFull) && headers == 0 && !isHeader(line) {
			cut := len(line) - maxLengthHeader
			f.stray(line[:cut])
			f.partial = append(f.partial, line[cut:]...)
			continue
		}
		if err != nil {
			return nil, f.endError(line, headers, err)
		}
		if headers == 0 {
			// Text printed without a newline precedes the header on its line. Only a
			// line that ends with \r\n has a header; other text can contain its name.
			if at := bytes.LastIndex(line, lengthName); at > 0 && bytes.HasSuffix(line, []byte("\r\n")) {
				f.stray(line[:at])
				line = line[at:]
			}
			if !isHeader(line) {
				f.stray(line)
				continue
			}
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return f.body(length)
		}
		if headers++; headers > maxHeaders {
			return nil, fmt.Errorf("%w: more than %d headers", errFraming, maxHeaders)
		}
		if length, err = header(line, length); err != nil {
			return nil, err
		}
	}
}

// maxLengthHeader is longer than any line with a Content-Length header.
const maxLengthHeader = 64

// line returns the next line, or a part of a line that exceeds the buffer.
func (f *frames) line() ([]byte, error) {
	line, err := f.r.ReadSlice('\n')
	if len(f.partial) > 0 {
		line = append(f.partial, line...)
		f.partial = nil
	}
	return line, err
}

// isHeader reports whether the line is the first header of a message.
func isHeader(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte(":"))
	return ok && (bytes.EqualFold(name, []byte("Content-Length")) || bytes.EqualFold(name, []byte("Content-Type")))
}

// header parses one header line and returns the message's length. length is the value
// of an earlier Content-Length header, or -1.
func header(line []byte, length int) (int, error) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return 0, fmt.Errorf("%w: header %q has no colon", errFraming, line)
	}
	if !bytes.EqualFold(name, []byte("Content-Length")) {
		return length, nil
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 31)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: Content-Length %q is not a number", errFraming, bytes.TrimSpace(value))
	case length >= 0:
		return 0, fmt.Errorf("%w: two Content-Length headers", errFraming)
	case n > maxBody:
		return 0, fmt.Errorf("%w: its %d bytes exceed the limit of %d", errFraming, n, maxBody)
	}
	return int(n), nil
}

func (f *frames) body(length int) ([]byte, error) {
	if length < 0 {
		return nil, fmt.Errorf("%w: no Content-Length header", errFraming)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(f.r, body); err != nil {
		return nil, fmt.Errorf("%w: the output ended within its body", errFraming)
	}
	return body, nil
}

// endError returns the error that ends the messages.
func (f *frames) endError(line []byte, headers int, err error) error {
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return fmt.Errorf("%w: a header is longer than %d bytes", errFraming, maxLine)
	case headers > 0:
		return fmt.Errorf("%w: the output ended within its headers", errFraming)
	}
	if len(line) > 0 {
		f.stray(line)
	}
	return io.EOF
}
