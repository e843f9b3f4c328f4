package extension

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Bounds of what a process may write to its standard output.
const (
	maxLine    = 4 << 10 // of a header
	maxHeaders = 16      // of a message
	maxBody    = 4 << 20
)

// errFraming is why a process whose output cannot be followed any more is ended.
var errFraming = errors.New("it wrote what is no message")

// frames takes the messages out of a process's standard output. Text between
// them goes to stray, piece by piece, which must not keep it.
type frames struct {
	r     *bufio.Reader
	stray func([]byte)
	kept  []byte // the end of a piece of text, in which a header may begin
}

func newFrames(r io.Reader, stray func([]byte)) *frames {
	return &frames{r: bufio.NewReaderSize(r, maxLine), stray: stray}
}

var lengthName = []byte("Content-Length:")

// next returns the body of the next message, at most 4 MiB. After an error
// nothing more is to be read: it is io.EOF at the end, or errFraming.
func (f *frames) next() ([]byte, error) {
	length, headers := -1, 0
	for {
		line, err := f.line()
		if errors.Is(err, bufio.ErrBufferFull) && headers == 0 && !isHeader(line) {
			cut := len(line) - longestStart
			f.stray(line[:cut])
			f.kept = append(f.kept, line[cut:]...)
			continue
		}
		if err != nil {
			return nil, f.broken(line, headers, err)
		}
		if headers == 0 {
			// What was printed without a line's end stands before the header, whose
			// line ends as no printed one does: text may name it.
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

// longestStart is more than a Content-Length header has, to its line's end.
const longestStart = 64

// line returns the next line, or a piece of one.
func (f *frames) line() ([]byte, error) {
	line, err := f.r.ReadSlice('\n')
	if len(f.kept) > 0 {
		line = append(f.kept, line...)
		f.kept = nil
	}
	return line, err
}

// isHeader reports whether a message begins with the line.
func isHeader(line []byte) bool {
	name, _, ok := bytes.Cut(line, []byte(":"))
	return ok && (bytes.EqualFold(name, []byte("Content-Length")) || bytes.EqualFold(name, []byte("Content-Type")))
}

// header reads one header; length is what was said of it before, or -1.
func header(line []byte, length int) (int, error) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return 0, fmt.Errorf("%w: a header without a colon", errFraming)
	}
	if !bytes.EqualFold(name, []byte("Content-Length")) {
		return length, nil
	}
	n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 31)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: Content-Length is no number", errFraming)
	case length >= 0:
		return 0, fmt.Errorf("%w: two Content-Length headers", errFraming)
	case n > maxBody:
		return 0, fmt.Errorf("%w: a message of %d bytes, at most %d are allowed", errFraming, n, maxBody)
	}
	return int(n), nil
}

func (f *frames) body(length int) ([]byte, error) {
	if length < 0 {
		return nil, fmt.Errorf("%w: no Content-Length header", errFraming)
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(f.r, body); err != nil {
		return nil, fmt.Errorf("%w: it ended within a message", errFraming)
	}
	return body, nil
}

// broken says why there are no more messages.
func (f *frames) broken(line []byte, headers int, err error) error {
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return fmt.Errorf("%w: a header of more than %d bytes", errFraming, maxLine)
	case headers > 0:
		return fmt.Errorf("%w: it ended within a header", errFraming)
	}
	if len(line) > 0 {
		f.stray(line)
	}
	return io.EOF
}
