package look_test

import (
	"bytes"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// has reports whether a picture has a pixel of a color.
func has(t *testing.T, picture []byte, want color.RGBA) bool {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	box := img.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == want {
				return true
			}
		}
	}
	return false
}

var (
	red  = color.RGBA{R: 255, A: 255}
	blue = color.RGBA{B: 255, A: 255}
)

// What is marked data-private is not in the picture, wherever it is drawn, and the rest is.
func TestMasked(t *testing.T) {
	s := start(t)
	const box = `style="width:60px;height:60px;background:rgb(255,0,0);transition:opacity 60s"`
	for name, html := range map[string]string{
		"element":    `<div data-private ` + box + `></div>`,
		"descendant": `<div data-private><div ` + box + `></div></div>`,
		"top layer":  `<div data-private><dialog id="d"><div ` + box + `></div></dialog></div><script>d.showModal()</script>`,
		"shadow":     `<div id="h"></div><script>h.attachShadow({mode:"open"}).innerHTML = '<div data-private ` + box + `></div>'</script>`,
		"frame":      `<iframe srcdoc='<div data-private ` + box + `></div>'></iframe>`,
		"important":  `<style>div { opacity: 1 !important; clip-path: none !important }</style><div data-private ` + box + `></div>`,
		"animated":   `<style>@keyframes a { from, to { opacity: 1; clip-path: none } } .a { animation: a 1s infinite }</style><div class="a" data-private ` + box + `></div>`,
	} {
		t.Run(name, func(t *testing.T) {
			id := strings.ReplaceAll(name, " ", "-")
			s.open(id, `<!doctype html><div style="width:60px;height:60px;background:rgb(0,0,255)"></div>`+html)
			l := s.look(id)
			if l.Picture == nil {
				t.Fatal(l.NoPicture)
			}
			if has(t, l.Picture, red) {
				t.Error("the picture shows private data")
			}
			if name != "top layer" && !has(t, l.Picture, blue) { // behind the dialog's backdrop
				t.Error("the picture lacks the rest")
			}
		})
	}
}

// A person hides the canvas with the button of its card: the look sees nothing, and the
// page says so to everyone.
func TestPrivateCanvas(t *testing.T) {
	s := start(t)
	s.open("one", secrets)
	person := webtest.Start(t).Open(t, s.link)
	frame := person.Frames(t, 1, webtest.ContentFrame)[0]
	frame.Wait(t, `document.querySelector("iframe")?.contentDocument?.querySelector("input")`)
	if l := s.look("one"); len(l.Views) != 1 || l.IsPrivate || l.Outline == "" {
		t.Errorf("before: %d views, private %v, outline %q", len(l.Views), l.IsPrivate, l.Outline)
	}
	person.Click(t, ".card .private")
	person.Wait(t, `!document.querySelector(".card .secret").hidden && document.querySelector(".card .private").ariaPressed === "true"`)
	l := s.look("one")
	if !l.IsPrivate || l.Outline != "" || l.Picture != nil || len(l.Views)+len(l.Problems) != 0 {
		t.Errorf("private %v, outline %q, %d bytes of picture, %d views, %d problems", l.IsPrivate, l.Outline, len(l.Picture), len(l.Views), len(l.Problems))
	}
	person.Wait(t, `document.querySelector("#happened").textContent.includes("made the canvas private")`)
	person.Click(t, ".card .private")
	person.Wait(t, `document.querySelector(".card .secret").hidden`)
	if l := s.look("one"); l.Outline == "" || l.Picture == nil {
		t.Errorf("after: outline %q, no picture because %q", l.Outline, l.NoPicture)
	}
}

// People choose names: the others and the agent see them.
func TestNames(t *testing.T) {
	s := start(t)
	s.open("one", "<p>x")
	b := webtest.Start(t)
	ann, bob := b.Open(t, s.link), b.Open(t, s.link)
	for page, name := range map[*webtest.Page]string{ann: "Ann", bob: `<b>Bob</b>`} {
		page.Wait(t, `!document.getElementById("people").hidden`)
		page.Click(t, "#people summary")
		webtest.Eval[any](t, page, `void (document.getElementById("name").value = "`+name+`")`)
		page.Click(t, "#naming button")
		page.Wait(t, `document.getElementById("present").textContent.includes("`+name+` · you")`)
	}
	ann.Wait(t, `document.getElementById("present").textContent.includes("<b>Bob</b>") && document.getElementById("people-count").textContent === "2"`)
	var names []string
	for _, p := range s.host.Present(host.DefaultSession) {
		names = append(names, p.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"<b>Bob</b>", "Ann"}) {
		t.Errorf("present: %q", names)
	}
	if l := s.look("one"); len(l.Views) != 2 || !slices.Contains(names, l.Views[0].Name) {
		t.Errorf("views: %+v", l.Views)
	}
}

// The first look says that the browser is started; the next one finds it.
func TestProgress(t *testing.T) {
	s := start(t)
	s.open("one", "<p>x")
	var said []string
	for range 2 {
		l, err := s.host.Look(t.Context(), canvas.LookArgs{Session: host.DefaultSession, InstanceID: "one", Progress: func(text string) { said = append(said, text) }})
		if err != nil || l.Picture == nil {
			t.Fatal(err, l.NoPicture)
		}
	}
	if len(said) != 1 || !strings.Contains(said[0], "starting the browser") {
		t.Errorf("progress: %q", said)
	}
}

// TestNextTab: the tab that was prepared for the next look shows another canvas, in another
// theme and size, and nothing of the canvas of before. One of another page is not used.
func TestNextTab(t *testing.T) {
	s := start(t)
	const script = `<script type="module">document.querySelector("h1").textContent += " " + document.documentElement.dataset.colorMode + " " + innerWidth + " " + localStorage.length; localStorage.seen = "x"</script>`
	s.open("one", "<!doctype html><h1>first</h1>"+script)
	s.open("two", "<!doctype html><h1>second</h1>"+script)
	for _, tt := range []struct {
		id, theme, want string
		width           int
	}{{"one", "light", `"first light 1280 0"`, 0}, {"two", "dark", `"second dark 500 0"`, 500}, {"one", "dark", `"first dark 300 0"`, 300}} {
		l, err := s.host.Look(t.Context(), canvas.LookArgs{Session: host.DefaultSession, InstanceID: tt.id, Theme: tt.theme, Width: tt.width, Height: 400 * min(1, tt.width)})
		if err != nil || l.Picture == nil || !strings.Contains(l.Outline, tt.want) {
			t.Errorf("%s: %v %s %s, want %s in the outline:\n%s", tt.id, err, l.NoPicture, l.Message, tt.want, l.Outline)
		}
		s.browser.AwaitRest()
	}
	if people := s.host.Present(host.DefaultSession); len(people) > 0 {
		t.Errorf("the waiting tab counts as a person: %v", people)
	}
}

// TestTabOfAnotherPage: the prepared tab is used for the page that it has loaded, and for no
// other.
func TestTabOfAnotherPage(t *testing.T) {
	b := browser(t)
	args := serve(t, `<script>globalThis.ahpLook = async (id) => ({ phase: "live", outline: location.search + " " + id })</script>`)
	at := args.URL
	for _, session := range []string{"?a", "?a", "?b", "?a"} {
		args.URL, args.InstanceID = at+session, "the \"one\""
		shot, err := b.Shoot(t.Context(), args)
		if want := session + ` the "one"`; err != nil || shot.Sight.Outline != want {
			t.Errorf("%q, %v; want %q", shot.Sight.Outline, err, want)
		}
		b.AwaitRest()
	}
}

// noisy is a page that cannot be compressed.
const noisy = `<!doctype html><body style="margin:0"><canvas id="c" width="900" height="900"></canvas><script>
	const g = c.getContext("2d"), i = g.createImageData(900, 900);
	for (let at = 0; at < i.data.length; at += 65536) crypto.getRandomValues(i.data.subarray(at, at + 65536));
	for (let at = 3; at < i.data.length; at += 4) i.data[at] = 255;
	g.putImageData(i, 0, 0);
	globalThis.ahpLook = async () => ({ phase: "live" });
</script>`

// A picture above 1 MiB is made smaller until it fits.
func TestDownscaled(t *testing.T) {
	b := browser(t)
	args := serve(t, noisy)
	args.Width, args.Height = 900, 900
	shot, err := b.Shoot(t.Context(), args)
	if err != nil {
		t.Fatal(err)
	}
	size, err := png.DecodeConfig(bytes.NewReader(shot.PNG))
	if err != nil || len(shot.PNG) > canvas.MaxPicture || size.Width != 450 || shot.Width != size.Width || shot.Height != size.Height {
		t.Errorf("%d bytes, %dx%d, said %dx%d, %v; want half of 900", len(shot.PNG), size.Width, size.Height, shot.Width, shot.Height, err)
	}
}

// full asks for the whole document, up to a limit.
func TestFull(t *testing.T) {
	s := start(t)
	s.open("one", `<!doctype html><body style="margin:0"><div style="height:2000px"></div><div style="height:50px;background:rgb(0,0,255)"></div>`)
	s.open("high", `<!doctype html><body style="margin:0"><div style="height:20000px"></div>`)
	for _, tt := range []struct {
		id     string
		full   bool
		height int
	}{{"one", false, 300}, {"one", true, 2050}, {"high", true, 8000}} {
		l, err := s.host.Look(t.Context(), canvas.LookArgs{Session: host.DefaultSession, InstanceID: tt.id, Width: 400, Height: 300, Full: tt.full})
		if err != nil || l.Picture == nil {
			t.Fatal(err, l.NoPicture)
		}
		size, err := png.DecodeConfig(bytes.NewReader(l.Picture))
		if err != nil || size.Height != tt.height || l.Height != tt.height {
			t.Errorf("%s, full %v: %d pixels high, said %d, %v; want %d", tt.id, tt.full, size.Height, l.Height, err, tt.height)
		}
		if shown := has(t, l.Picture, blue); tt.id == "one" && shown != tt.full {
			t.Errorf("full %v: the end of the document is shown: %v", tt.full, shown)
		}
	}
}
