package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// visitExtension starts an extension, by a host or by this program, and visits its first
// canvas.
func (s *survey) visitExtension(ctx context.Context, dir string, w way) (seen, error) {
	a := &app{Name: filepath.Base(dir), Controls: defaultControls, dir: dir}
	if w == direct || w == again {
		p, address, err := parent(ctx, dir)
		if err != nil {
			return seen{}, err
		}
		defer p.kill()
		saw := do(s.browser, a, address, false)
		if saw.Failed != "" {
			saw.Failed += ": " + p.errs.String()
		}
		return saw, nil
	}
	host, link, err := s.relay.host(ctx, w, "--extension", dir)
	if err != nil {
		return seen{}, err
	}
	defer host.kill()
	return do(s.from(w), a, link, true), nil
}

// message is one of JSON-RPC.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// parent starts an extension as its parent process, opens its first canvas and returns the
// canvas's address.
func parent(ctx context.Context, dir string) (p *process, address string, err error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "node", mainModule(dir))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SESSION_ID=survey")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	read, write := io.Pipe()
	cmd.Stdout = write
	if p, err = begin(cmd); err != nil {
		return nil, "", err
	}
	go func() { <-p.done; _ = write.Close() }()
	timer := time.AfterFunc(answerTime, func() { _ = write.CloseWithError(errors.New("it declares no canvas")) })
	defer timer.Stop()
	lines := bufio.NewReader(read)
	if address, err = openFirst(lines, in, dir); err != nil {
		p.kill()
		return nil, "", fmt.Errorf("%w: %s", err, p.errs)
	}
	go func() { _, _ = openFirst(lines, in, dir) }() // answers until the process ends
	return p, address, nil
}

// openFirst answers what an extension asks until it has opened its first canvas.
func openFirst(in *bufio.Reader, out io.Writer, dir string) (address string, err error) {
	for {
		m, err := receive(in)
		if err != nil {
			return "", err
		}
		if string(m.ID) == `"open"` && m.Method == "" {
			var opened struct{ URL string }
			if m.Error != nil || json.Unmarshal(m.Result, &opened) != nil || opened.URL == "" {
				return "", fmt.Errorf("its canvas did not open: %s%s", m.Error, m.Result)
			}
			return opened.URL, nil
		}
		if m.ID == nil || m.Method == "" {
			continue
		}
		if err := answer(out, m, dir); err != nil {
			return "", err
		}
	}
}

// answer answers a request, and opens the first canvas of those that it declares.
func answer(out io.Writer, m message, dir string) error {
	switch m.Method {
	case "connect":
		return send(out, map[string]any{"id": m.ID, "result": map[string]any{"ok": true, "protocolVersion": 3, "version": "1"}})
	case "session.resume":
		var said struct{ Canvases []struct{ ID string } }
		if err := json.Unmarshal(m.Params, &said); err != nil || len(said.Canvases) == 0 {
			return errors.New("it declares no canvas")
		}
		result := map[string]any{"sessionId": "survey", "workspacePath": dir, "capabilities": map[string]any{"ui": map[string]any{"canvases": true}}}
		if err := send(out, map[string]any{"id": m.ID, "result": result}); err != nil {
			return err
		}
		params := map[string]any{"sessionId": "survey", "extensionId": filepath.Base(dir), "canvasId": said.Canvases[0].ID, "instanceId": "survey"}
		return send(out, map[string]any{"id": "open", "method": "canvas.open", "params": params})
	}
	if m.Method == "session.log" {
		return send(out, map[string]any{"id": m.ID, "result": map[string]any{}})
	}
	return send(out, map[string]any{"id": m.ID, "error": map[string]any{"code": -32601, "message": "the survey does not answer " + m.Method}})
}

func send(out io.Writer, m map[string]any) error {
	m["jsonrpc"] = "2.0"
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Content-Length: %d\r\n\r\n%s", len(text), text)
	return err
}

// receive reads a message, as the Language Server Protocol frames it.
func receive(in *bufio.Reader) (m message, err error) {
	header, err := textproto.NewReader(in).ReadMIMEHeader()
	if err != nil {
		return m, err
	}
	n, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil || n < 0 || n > 16<<20 {
		return m, errors.New("a message without a length")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(in, text); err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}
