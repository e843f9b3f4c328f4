package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// launchWebKit starts WebKitGTK's MiniBrowser and its WebDriver on a virtual screen.
func launchWebKit(exe, profile string, _ []string) (engine, error) {
	browser, err := miniBrowser()
	if err != nil {
		return nil, err
	}
	screen, display, err := xvfb(profile)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		screen.kill()
		return nil, err
	}
	cmd := exec.Command(exe, "--port="+port)
	cmd.Env = append(os.Environ(), "DISPLAY="+display, "HOME="+profile, "XDG_DATA_HOME="+profile, "XDG_CACHE_HOME="+profile, "NO_AT_BRIDGE=1")
	server, err := startProcess(cmd)
	if err != nil {
		screen.kill()
		return nil, err
	}
	w := &webDriver{base: "http://127.0.0.1:" + port}
	if err = server.until(w.up); err == nil {
		err = w.begin(browser)
	}
	d := &driver{call: w.call, quit: func() { w.end(); server.kill(); screen.kill() }}
	if err != nil {
		d.quit()
		return nil, err
	}
	return d, nil
}

// miniBrowser finds the browser, which is not in PATH.
func miniBrowser() (string, error) {
	for _, pattern := range []string{"/usr/lib/*/webkit2gtk-4.*/MiniBrowser", "/usr/lib*/webkit*gtk-*/MiniBrowser", "/usr/libexec/webkit*gtk-*/MiniBrowser"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return found[len(found)-1], nil
		}
	}
	return "", errors.New("WebKitWebDriver is installed, but MiniBrowser is not")
}

// xvfb starts a virtual screen and returns its name.
func xvfb(dir string) (*process, string, error) {
	file, err := os.Create(filepath.Join(dir, "display"))
	if err != nil {
		return nil, "", err
	}
	defer file.Close()
	cmd := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1600x1200x24", "-nolisten", "tcp")
	cmd.ExtraFiles = []*os.File{file}
	p, err := startProcess(cmd)
	if err != nil {
		return nil, "", err
	}
	var number string
	err = p.until(func() bool {
		said, err := os.ReadFile(file.Name())
		number = strings.TrimSpace(string(said))
		return err == nil && strings.HasSuffix(string(said), "\n")
	})
	if err != nil {
		p.kill()
	}
	return p, ":" + number, err
}

func freePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer ln.Close()
	_, port, err := net.SplitHostPort(ln.Addr().String())
	return port, err
}

// webDriver is a W3C WebDriver session over HTTP.
type webDriver struct{ base, session string }

func (w *webDriver) up() bool {
	r, err := http.Get(w.base + "/status")
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

func (w *webDriver) begin(browser string) error {
	ctx, cancel := timeout()
	defer cancel()
	raw, err := w.ask(ctx, http.MethodPost, w.base+"/session", object{"capabilities": object{"alwaysMatch": object{
		"webkitgtk:browserOptions": object{"binary": browser, "args": []string{"--automation", "--javascript-can-open-windows-automatically=true"}},
	}}})
	if err != nil {
		return err
	}
	var made struct{ SessionID string }
	err = json.Unmarshal(raw, &made)
	w.session = made.SessionID
	return err
}

// end ends the session, which closes the browser.
func (w *webDriver) end() {
	ctx, cancel := timeout()
	defer cancel()
	_, _ = w.call(ctx, cmdEnd, nil)
}

func (w *webDriver) call(ctx context.Context, c command, params object) (json.RawMessage, error) {
	return w.ask(ctx, c.method, w.base+"/session/"+w.session+c.path, params)
}

func (w *webDriver) ask(ctx context.Context, method, address string, params object) (json.RawMessage, error) {
	var body bytes.Buffer
	if method == http.MethodPost {
		if err := json.NewEncoder(&body).Encode(params); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, &body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	var answer struct{ Value json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if r.StatusCode != http.StatusOK {
		return nil, webdriverError(answer.Value)
	}
	return answer.Value, nil
}

// webdriverError decodes a failed command's answer.
func webdriverError(raw json.RawMessage) error {
	var e struct{ Error, Message string }
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	return errors.New(e.Error + ": " + e.Message)
}
