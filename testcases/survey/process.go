package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// process is a running program, with its children.
type process struct {
	cmd  *exec.Cmd
	errs *tail
	done chan struct{} // closed when it has ended
}

// begin starts a program that prints into a tail.
func begin(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, errs: &tail{}, done: make(chan struct{})}
	if cmd.Stdout == nil {
		cmd.Stdout = p.errs
	}
	cmd.Stderr = p.errs
	asGroup(cmd)
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() { defer close(p.done); _ = cmd.Wait() }()
	return p, nil
}

// beginLine starts a program and returns its first line of output.
func beginLine(cmd *exec.Cmd) (*process, []byte, error) {
	read, write := io.Pipe()
	cmd.Stdout = write
	p, err := begin(cmd)
	if err != nil {
		return nil, nil, err
	}
	go func() { <-p.done; _ = write.Close() }()
	lines := bufio.NewReader(read)
	first, err := lines.ReadBytes('\n')
	go func() { _, _ = io.Copy(io.Discard, lines) }() // ends with the program
	if err != nil {
		p.kill()
		return nil, nil, fmt.Errorf("%s did not start: %s", filepath.Base(cmd.Path), p.errs)
	}
	return p, first, nil
}

// kill ends the program and its children, and waits for its end.
func (p *process) kill() {
	if p == nil {
		return
	}
	killGroup(p.cmd)
	<-p.done
}

// tail keeps the last bytes that were written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	t.data = t.data[max(0, len(t.data)-4096):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data[max(0, len(t.data)-600):])
}

// running is an app that answers, behind a front.
type running struct {
	*front
	process *process
	data    string
	plain   bool
}

// answerTime limits how long an app may take until it answers.
const answerTime = 90 * time.Second

// start starts the app and waits until it answers.
func (a *app) start(ctx context.Context) (*running, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	r := &running{plain: a.Plain}
	if r.data, err = os.MkdirTemp("", "survey-"); err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	fill := strings.NewReplacer("{port}", port, "{data}", r.data, "{dir}", a.dir)
	args := make([]string, len(a.Run))
	for i, arg := range a.Run {
		args[i] = fill.Replace(arg)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), args[0], args[1:]...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "BROWSER=none", "PATH="+filepath.Join(a.dir, "node_modules", ".bin")+":"+os.Getenv("PATH"))
	for _, value := range a.Env {
		cmd.Env = append(cmd.Env, fill.Replace(value))
	}
	cmd.Path, err = lookIn(a.dir, args[0])
	if err == nil {
		cmd.Err = nil
		r.process, err = begin(cmd)
	}
	if err == nil {
		err = r.await(ctx, "http://"+address+a.Path)
	}
	if err == nil {
		r.front, err = newFront(address)
	}
	if err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

// lookIn finds a program among those of the app's packages, and then among all.
func lookIn(dir, name string) (string, error) {
	local := filepath.Join(dir, name)
	if filepath.Base(name) == name {
		local = filepath.Join(dir, "node_modules", ".bin", name)
	}
	if _, err := os.Stat(local); err == nil {
		return local, nil
	}
	return exec.LookPath(name)
}

// await waits until an address answers.
func (r *running) await(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		if resp, err := http.DefaultClient.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode < 500 {
				return nil
			}
		}
		select {
		case <-r.process.done:
			return errors.New("it ended: " + r.process.errs.String())
		case <-ctx.Done():
			return errors.New("it does not answer: " + r.process.errs.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// stop ends the app and removes its data.
func (r *running) stop() {
	r.process.kill()
	if r.front != nil {
		r.close()
	}
	_ = os.RemoveAll(r.data)
}

// url is where people reach the app.
func (r *running) url(path string) string {
	if r.plain {
		return "http://" + r.to + path
	}
	return "http://" + r.ln.Addr().String() + path
}

// freeAddress returns an address of this machine that is free now.
func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	return ln.Addr().String(), nil
}
