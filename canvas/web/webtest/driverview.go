package webtest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"

	"github.com/chromedp/chromedp/kb"
)

func (v *driverView) close() {
	if len(v.path) > 0 {
		return // frames end with their window
	}
	ctx, cancel := timeout()
	defer cancel()
	_, _ = v.do(ctx, cmdClose, object{}) // fails if the browser has ended
}

func (v *driverView) navigate(ctx context.Context, address string) error {
	_, err := v.do(ctx, cmdNavigate, object{"url": address})
	return err
}

func (v *driverView) reload(ctx context.Context) error {
	_, err := v.do(ctx, cmdReload, object{})
	return err
}

func (v *driverView) resize(ctx context.Context, width, height int64) error {
	_, err := v.do(ctx, cmdSize, object{"width": width, "height": height})
	return err
}

func (v *driverView) screenshot(ctx context.Context) ([]byte, error) {
	raw, err := v.do(ctx, cmdScreenshot, object{"full": false, "hash": false})
	if err != nil {
		return nil, err
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(text)
}

// execute runs a script that passes its result to done.
func (v *driverView) execute(ctx context.Context, script string, result any, args ...any) error {
	if args == nil {
		args = []any{}
	}
	raw, err := v.do(ctx, cmdExecute, object{"script": "const done = arguments[arguments.length - 1];" + script, "args": args})
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, result)
}

func (v *driverView) eval(ctx context.Context, expression string) ([]byte, error) {
	var said struct{ Value, Error *string }
	err := v.execute(ctx, `(async () => (`+expression+`
		))().then((v) => done({ value: v === undefined ? null : JSON.stringify(v) }), (e) => done({ error: String(e?.stack ?? e) + e }))`, &said)
	if err != nil {
		return nil, err
	}
	if said.Error != nil {
		return nil, errors.New(*said.Error)
	}
	if said.Value == nil {
		return nil, nil
	}
	return []byte(*said.Value), nil
}

// frames returns frames at any depth, of any site.
func (v *driverView) frames(ctx context.Context, n int, match func(*url.URL) bool) ([]view, error) {
	var views []view
	if err := v.walk(ctx, func(frame *driverView, u *url.URL) {
		if match(u) {
			views = append(views, frame)
		}
	}); err != nil || len(views) < n {
		return nil, err
	}
	return views, nil
}

func (v *driverView) walk(ctx context.Context, visit func(*driverView, *url.URL)) error {
	var elements []element
	if err := v.execute(ctx, `done([...document.querySelectorAll("iframe")])`, &elements); err != nil {
		return err
	}
	for _, e := range elements {
		frame := v.in(e)
		var href string
		if err := frame.execute(ctx, `done(location.href)`, &href); err != nil {
			continue // the frame is navigating
		}
		if u, err := url.Parse(href); err == nil {
			visit(frame, u)
		}
		_ = frame.walk(ctx, visit)
	}
	return nil
}

// in returns the view of a frame element in v.
func (v *driverView) in(e element) *driverView {
	return &driverView{d: v.d, window: v.window, path: append(slices.Clip(v.path), e)}
}

// named are the keys with a WebDriver code.
var named = map[rune]rune{
	'\r': '\ue007', '\t': '\ue004', '\b': '\ue003', []rune(kb.Escape)[0]: '\ue00c', []rune(kb.Delete)[0]: '\ue017', []rune(kb.End)[0]: '\ue010',
	[]rune(kb.Home)[0]: '\ue011', []rune(kb.ArrowLeft)[0]: '\ue012', []rune(kb.ArrowUp)[0]: '\ue013', []rune(kb.ArrowRight)[0]: '\ue014', []rune(kb.ArrowDown)[0]: '\ue015',
}

// keys types in the frame that has the focus. In WebKit, switching to another frame
// takes the focus away; then the frame counts whose document has an active element.
func (v *driverView) keys(ctx context.Context, keys string) error {
	var frame element
	if err := v.execute(ctx, `const has = document.activeElement;
	const had = (d) => d?.activeElement && d.activeElement !== d.body;
	if (has && has !== document.body) done(has.localName === "iframe" ? has : null);
	else done([...document.querySelectorAll("iframe")].find((f) => had(f.contentDocument)) ?? null);`, &frame); err != nil {
		return err
	}
	if string(frame) != "null" {
		return v.in(frame).keys(ctx, keys)
	}
	return v.typed(ctx, keys)
}

// typed types in what has the focus in v's window: it switches to no other frame.
func (v *driverView) typed(ctx context.Context, keys string) error {
	var steps []object
	for _, key := range keys {
		if other, ok := named[key]; ok {
			key = other
		}
		steps = append(steps, object{"type": "keyDown", "value": string(key)}, object{"type": "keyUp", "value": string(key)})
	}
	return v.act(ctx, object{"type": "key", "id": "keys", "actions": steps})
}

func (v *driverView) click(ctx context.Context, selector string) error {
	var at struct{ X, Y float64 }
	err := v.execute(ctx, `const [selector] = arguments;
	(function ask() {
		const e = document.querySelector(selector);
		if (!e) return setTimeout(ask, `+pollMillis+`);
		e.scrollIntoView({ block: "nearest", inline: "nearest" });
		const r = e.getBoundingClientRect();
		done({ x: r.x + r.width / 2, y: r.y + r.height / 2 });
	})()`, &at, selector)
	if err != nil {
		return err
	}
	return v.mouse(ctx, point{at.X, at.Y})
}

// mouse presses, moves and releases the mouse. WebDriver's coordinates are those of
// the window, so the frame at that point receives the events.
func (v *driverView) mouse(ctx context.Context, way ...point) error {
	move := func(to point) object {
		return object{"type": "pointerMove", "duration": 0, "origin": "viewport", "x": int(to.x), "y": int(to.y)}
	}
	steps := []object{move(way[0]), {"type": "pointerDown", "button": 0}}
	for _, to := range way[1:] {
		steps = append(steps, move(to))
	}
	steps = append(steps, object{"type": "pointerUp", "button": 0})
	return v.act(ctx, object{"type": "pointer", "id": "mouse", "parameters": object{"pointerType": "mouse"}, "actions": steps})
}

func (v *driverView) act(ctx context.Context, source object) error {
	_, err := v.do(ctx, cmdActions, object{"actions": []object{source}})
	return err
}
