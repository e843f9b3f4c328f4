package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/loopback"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// webApp is the app of a --canvas-url. It is the provider's registration, so that it
// learns when the app becomes reachable.
type webApp struct {
	*loopback.Provider
	url       string
	reg       loopback.Registration
	reachable chan struct{} // receives after the app became reachable
}

// SetReachable implements loopback.Registration.
func (w *webApp) SetReachable(reachable bool) {
	w.reg.SetReachable(reachable)
	if !reachable {
		return
	}
	select {
	case w.reachable <- struct{}{}:
	default:
	}
}

func (a *apps) addWeb(registry *host.Canvases, arg string, opts loopback.Options) error {
	name, url, ok := strings.Cut(arg, "=")
	if !ok || name == "" || strings.Contains(name, ":") {
		return term.Usagef("--canvas-url %q: want a name and a URL, as in notes=http://127.0.0.1:3000", arg)
	}
	url, shared, err := cookiesOf(url)
	if err != nil {
		return term.Usagef("--canvas-url %q: %v", arg, err)
	}
	opts.SharedCookies = shared
	p, err := loopback.New(name, url, opts)
	if err != nil {
		return term.About("--canvas-url "+name, err)
	}
	w := &webApp{Provider: p, url: url, reachable: make(chan struct{}, 1)}
	a.web = append(a.web, w)
	reg, err := registry.Register(p.Extension(), p, p.Declarations()...)
	if err != nil {
		return term.About("--canvas-url "+name, err)
	}
	w.reg = reg
	p.Watch(w)
	return nil
}

// cookiesOf cuts ",cookies=shared" off the end of a --canvas-url. A comma within the URL is
// its own.
func cookiesOf(arg string) (url string, shared bool, err error) {
	at := strings.LastIndex(arg, ",cookies=")
	if at < 0 {
		return arg, false, nil
	}
	switch how := arg[at+len(",cookies="):]; how {
	case "shared":
		return arg[:at], true, nil
	case "browser":
		return arg[:at], false, nil
	default:
		return "", false, fmt.Errorf("cookies=%q: want shared or browser", how)
	}
}

// byID returns the web app with a canvas id, or nil.
func (a *apps) byID(id string) *webApp {
	for _, w := range a.web {
		if w.ID() == id {
			return w
		}
	}
	return nil
}

// awaits reports whether a canvas failed to open because its web app does not run, and
// arranges that it is opened when the app does.
func (h *hosted) awaits(id string, err error) bool {
	w := h.apps.byID(id)
	if w == nil || !errors.Is(err, &canvas.Error{Code: canvas.CodeProviderUnavailable}) {
		return false
	}
	h.awaited = append(h.awaited, w)
	h.notes = append(h.notes, fmt.Sprintf("nothing answers at %s yet; the canvas %q opens when the app runs", w.url, id))
	return true
}

// openWhenReachable opens a web app's canvas as soon as the app runs. It returns when the
// canvas is open, cannot be opened for another reason, or ctx is canceled.
func (h *hosted) openWhenReachable(ctx context.Context, env *term.Env, w *webApp) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.reachable:
		}
		_, err := h.host.Canvases().Open(ctx, openArgs(w.ID(), w.ID()))
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			env.Note(fmt.Sprintf("%s answers; the canvas %q is open", w.url, w.ID()))
			return
		case !errors.Is(err, &canvas.Error{Code: canvas.CodeProviderUnavailable}):
			env.Note(fmt.Sprintf("the canvas %q could not be opened: %s", w.ID(), message(err)))
			return
		}
	}
}
