package web_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// TestRedirectedForm: a form redirected with its method arrives at the target complete and
// once, and its response has that address; so has a fetch's.
func TestRedirectedForm(t *testing.T) {
	a := newApp(t)
	a.Handle("/go/307", http.RedirectHandler("/go/308?again=$&", http.StatusTemporaryRedirect))
	a.Handle("/go/308", http.RedirectHandler("/in/side?x=%22%3c&y=%27$&%27#part", http.StatusPermanentRedirect))
	a.Handle("/round", http.RedirectHandler("/round?", http.StatusTemporaryRedirect))
	a.HandleFunc("POST /in/side", func(w http.ResponseWriter, r *http.Request) {
		f, h, err := r.FormFile("f")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		n, _ := io.Copy(io.Discard, f)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>Saved</title><p id=got>%s %s %d</p><a id=near href="near">near</a>`, r.FormValue("a"), h.Filename, n)
	})
	a.page("/form", `<title>Form</title><form method=post action=/go/307 enctype=multipart/form-data><input name=a value="b c"><input type=file name=f></form>`)
	_, _, frame := showApp(t, a)
	for _, size := range []int{10, 3_000_000} {
		inCanvas[any](t, frame, `location.href = "/form"`)
		frame.Wait(t, document+`.title === "Form"`)
		file := fmt.Sprintf(`const file = new File(["x".repeat(%d)], "x.txt");`, size)
		inCanvas[any](t, frame, file+`const d = new DataTransfer(); d.items.add(file); document.querySelector("[type=file]").files = d.files; document.forms[0].submit()`)
		frame.Wait(t, document+`.title === "Saved"`)
		want := fmt.Sprintf(`b c x.txt %d /in/side?x=%%22%%3c&y=%%27$&%%27#part /in/near`, size)
		if got := inCanvas[string](t, frame, `return [document.querySelector("#got").innerText, location.pathname + location.search + location.hash, new URL(document.querySelector("#near").href).pathname].join(" ")`); got != want {
			t.Errorf("the form of %d bytes arrived as\n%s, want\n%s", size, got, want)
		}
		if got := inCanvas[string](t, frame, file+`const d = new FormData(); d.append("a", "b c"); d.append("f", file);
			const r = await fetch("/go/307", { method: "POST", body: d }); return r.status + (await r.text())`); !strings.Contains(got, fmt.Sprintf("b c x.txt %d<", size)) {
			t.Errorf("the fetch of %d bytes arrived as %s", size, got)
		}
	}
	if n := a.requests("POST /in/side?x=%22%3c&y=%27$&%27"); n != 4 {
		t.Errorf("4 forms arrived as %d", n)
	}
	inCanvas[any](t, frame, `const f = document.createElement("form"); f.method = "post"; f.action = "/round"; document.body.append(f); f.submit()`)
	frame.Wait(t, document+`.body?.innerText.includes("too many times")`)
	if got := webtest.Eval[int](t, frame, document+`.querySelectorAll("small").length`); got != 1 {
		t.Error("a form that goes round is no page of ours")
	}
}
