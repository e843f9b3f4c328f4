package remote

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errEventTooLarge = errors.New("the event is too large")

// events reads server-sent events. It returns the data of each, and ignores their other
// fields.
type events struct {
	r     *bufio.Reader
	limit int64 // of an event's bytes, with all its lines
	first bool
}

func newEvents(r io.Reader, limit int64) *events {
	return &events{bufio.NewReaderSize(r, 16<<10), limit, true}
}

// next returns the data of the next event that has any. An event without the empty line
// at its end is io.ErrUnexpectedEOF.
func (e *events) next() ([]byte, error) {
	var data []byte
	var size int64
	begun := false
	for {
		line, err := e.line(&size)
		if err == io.EOF && (begun || len(line) > 0) {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if begun {
				return data, nil
			}
			size = 0
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		if begun {
			data = append(data, '\n')
		}
		begun = true
		data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
	}
}

// line returns a line without its end, which can be LF or CR LF.
func (e *events) line(size *int64) ([]byte, error) {
	var line []byte
	for {
		part, err := e.r.ReadSlice('\n')
		if *size += int64(len(part)); *size > e.limit {
			return nil, errEventTooLarge
		}
		line = append(line, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			return line, err
		}
		if e.first {
			line, e.first = bytes.TrimPrefix(line, []byte("\ufeff")), false
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}
