package webtest

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
)

// command is a W3C WebDriver command: its name, which Firefox uses, and its HTTP method
// and path below the session.
type command struct{ name, method, path string }

var (
	cmdNavigate   = command{"Navigate", "POST", "/url"}
	cmdReload     = command{"Refresh", "POST", "/refresh"}
	cmdWindows    = command{"GetWindowHandles", "GET", "/window/handles"}
	cmdNewWindow  = command{"NewWindow", "POST", "/window/new"}
	cmdToWindow   = command{"SwitchToWindow", "POST", "/window"}
	cmdClose      = command{"CloseWindow", "DELETE", "/window"}
	cmdSize       = command{"SetWindowRect", "POST", "/window/rect"}
	cmdToFrame    = command{"SwitchToFrame", "POST", "/frame"}
	cmdExecute    = command{"ExecuteAsyncScript", "POST", "/execute/async"}
	cmdActions    = command{"PerformActions", "POST", "/actions"}
	cmdScreenshot = command{"TakeScreenshot", "GET", "/screenshot"}
	cmdEnd        = command{"DeleteSession", "DELETE", ""}
)

// object is the parameters of a command, or a part of them.
type object = map[string]any

// driver is a browser with a WebDriver session. It has one current window and frame, so
// commands run one at a time.
type driver struct {
	call func(ctx context.Context, c command, params object) (json.RawMessage, error)
	quit func()

	mu sync.Mutex
	at *driverView // the current view; nil if unknown
}

// element is the browser's reference to a DOM element.
type element = json.RawMessage

// driverView is a window, or a frame in one.
type driverView struct {
	d      *driver
	window string
	path   []element // frame elements from the window to the frame
}

func (d *driver) open() (view, error) {
	ctx, cancel := timeout()
	defer cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.home(ctx); err != nil {
		return nil, err
	}
	raw, err := d.call(ctx, cmdNewWindow, object{"type": "window", "focus": true})
	if err != nil {
		return nil, err
	}
	var made struct{ Handle string }
	if err := json.Unmarshal(raw, &made); err != nil {
		return nil, err
	}
	v := &driverView{d: d, window: made.Handle}
	_, err = v.run(ctx, cmdSize, object{"width": 1280, "height": 860})
	return v, err
}

func (d *driver) ended() bool {
	ctx, cancel := timeout()
	defer cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.home(ctx) != nil
}

// home switches to the browser's first window, where new windows are requested.
func (d *driver) home(ctx context.Context) error {
	d.at = nil
	raw, err := d.call(ctx, cmdWindows, nil)
	if err != nil {
		return err
	}
	var handles []string
	if err := json.Unmarshal(raw, &handles); err != nil || len(handles) == 0 {
		return fmt.Errorf("no window: %w", err)
	}
	_, err = d.call(ctx, cmdToWindow, object{"handle": handles[0]})
	return err
}

func (d *driver) close() { d.quit() }

// do runs a command in the window or frame.
func (v *driverView) do(ctx context.Context, c command, params object) (json.RawMessage, error) {
	v.d.mu.Lock()
	defer v.d.mu.Unlock()
	return v.run(ctx, c, params)
}

// run is do for a caller that holds the lock.
func (v *driverView) run(ctx context.Context, c command, params object) (json.RawMessage, error) {
	if v.d.at != v {
		if err := v.switchTo(ctx); err != nil {
			return nil, err
		}
	}
	raw, err := v.d.call(ctx, c, params)
	if err != nil || c == cmdNavigate || c == cmdReload || c == cmdClose {
		v.d.at = nil // the frames may have changed
	}
	return raw, err
}

func (v *driverView) switchTo(ctx context.Context) error {
	v.d.at = nil
	if _, err := v.d.call(ctx, cmdToWindow, object{"handle": v.window}); err != nil {
		return err
	}
	if _, err := v.d.call(ctx, cmdToFrame, object{"id": nil}); err != nil {
		return err
	}
	for _, frame := range v.path {
		if _, err := v.d.call(ctx, cmdToFrame, object{"id": frame}); err != nil {
			return err
		}
	}
	v.d.at = v
	return nil
}
