package webtest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// firefoxPrefs disable background activity, and defaults that would hide what a page
// can do. Port 0 is a free port, which Firefox writes into its profile.
const firefoxPrefs = `user_pref("marionette.port", 0);
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.page", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("dom.disable_open_during_load", false);
user_pref("dom.max_script_run_time", 0);
user_pref("media.peerconnection.ice.loopback", true);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
`

// launchFirefox starts a headless Firefox. It is controlled by Marionette, its built-in
// remote control, which needs no further program.
func launchFirefox(exe, profile string, _ []string) (engine, error) {
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPrefs), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, "--headless", "--marionette", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1")
	running, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	conn, err := marionette(running, filepath.Join(profile, "MarionetteActivePort"))
	if err != nil {
		running.kill()
		return nil, err
	}
	m := &marionetteConn{conn: conn, r: bufio.NewReader(conn)}
	d := &driver{call: m.call, quit: func() { conn.Close(); running.kill() }}
	ctx, cancel := timeout()
	defer cancel()
	if _, err = m.frame(); err == nil { // the greeting
		_, err = m.call(ctx, command{name: "NewSession"}, object{})
	}
	if err != nil {
		d.quit()
		return nil, err
	}
	return d, nil
}

// marionette connects to the port that Firefox writes into a file.
func marionette(p *process, file string) (net.Conn, error) {
	var conn net.Conn
	err := p.until(func() bool {
		port, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		conn, err = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port)))
		return err == nil
	})
	return conn, err
}

// marionetteConn is a connection to Firefox. A message is its length, a colon and JSON:
// [0, id, command, parameters] or [1, id, error, result].
type marionetteConn struct {
	conn net.Conn
	r    *bufio.Reader
	id   int
}

func (m *marionetteConn) call(ctx context.Context, c command, params object) (json.RawMessage, error) {
	m.id++
	if params == nil {
		params = object{}
	}
	text, err := json.Marshal([]any{0, m.id, "WebDriver:" + c.name, params})
	if err != nil {
		return nil, err
	}
	end, _ := ctx.Deadline()
	_ = m.conn.SetDeadline(end.Add(5 * time.Second)) // later than the command's own timeout, which keeps the connection usable
	if _, err := fmt.Fprintf(m.conn, "%d:%s", len(text), text); err != nil {
		return nil, err
	}
	answer, err := m.frame()
	if err != nil {
		return nil, err
	}
	var parts [4]json.RawMessage
	if err := json.Unmarshal(answer, &parts); err != nil {
		return nil, err
	}
	return unwrap(parts[2], parts[3])
}

// unwrap converts an answer of Firefox to that of WebDriver over HTTP.
func unwrap(failure, result json.RawMessage) (json.RawMessage, error) {
	if string(failure) != "null" {
		return nil, webdriverError(failure)
	}
	var whole map[string]json.RawMessage
	if json.Unmarshal(result, &whole) == nil && len(whole) == 1 && whole["value"] != nil {
		return whole["value"], nil
	}
	return result, nil
}

func (m *marionetteConn) frame() ([]byte, error) {
	length, err := m.r.ReadString(':')
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil {
		return nil, err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(m.r, text)
	return text, err
}
