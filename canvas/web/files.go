package web

import (
	"embed"
	"fmt"
	"html"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// page is what the app hosts serve, content what the content hosts serve.
var (
	//go:embed page
	page embed.FS
	//go:embed content
	content embed.FS
)

// mediaTypes says what a file is; nosniff makes a wrong one fail loudly.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file is one embedded file, filled in and ready to be sent.
type file struct {
	body    []byte
	headers map[string]string
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "this is a file: it can only be read", f.headers)
		return
	}
	setHeaders(w, f.headers)
	w.Header().Set("Content-Length", strconv.Itoa(len(f.body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(f.body) // the reader went away: nobody is left to tell
	}
}

// refuse answers with a plain word under the given policies: an error page
// without them was a hole that was seen.
func refuse(w http.ResponseWriter, status int, word string, headers map[string]string) {
	setHeaders(w, headers)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, word)
}

// load reads a folder of embedded files; its names are under root.
func load(dir embed.FS, name, root string, fill func(name string, body []byte) ([]byte, map[string]string)) map[string]*file {
	entries, err := dir.ReadDir(name)
	if err != nil {
		panic(err) // embedded: cannot fail on a machine if it passed a test
	}
	files := map[string]*file{}
	for _, e := range entries {
		body, headers := fill(e.Name(), []byte(embedded(dir, name+"/"+e.Name())))
		headers["Content-Type"] = mediaTypes[path.Ext(e.Name())]
		files[root+e.Name()] = &file{body, headers}
	}
	return files
}

// pageFiles are the files of the page as one app origin serves them.
func pageFiles(a addresses) map[string]*file {
	files := load(page, "page", "/", func(name string, body []byte) ([]byte, map[string]string) {
		k := appFile
		switch name {
		case "direct.html":
			k = directFile
		case "single.html":
			return []byte(strings.Replace(string(body), "{script}", singleScript(), 1)), a.headers(singleFile)
		}
		meta := strings.NewReplacer("{content}", html.EscapeString(a.content), "{app}", html.EscapeString(strings.Join(a.app, " ")))
		if path.Ext(name) == ".html" {
			body = []byte(meta.Replace(string(body)))
		}
		return body, a.headers(k)
	})
	files["/"] = files["/index.html"]
	return files
}

func embedded(dir embed.FS, name string) string {
	raw, err := dir.ReadFile(name)
	if err != nil {
		panic(err) // embedded: cannot fail on a machine if it passed a test
	}
	return string(raw)
}

// singleScript is single.js with the texts that it puts into documents. It has to
// stand in its page: an opaque origin may load no script of ours.
func singleScript() string {
	script := embedded(page, "page/single.js")
	for slot, text := range map[string]string{"CANVAS": embedded(content, "content/canvas.js"), "SHIM": embedded(page, "page/singleshim.js")} {
		quoted := strings.ReplaceAll(string(ahp.MustMarshal(text)), "<", `\u003c`) // ends no script element
		script = strings.Replace(script, "const "+slot+` = "";`, "const "+slot+" = "+quoted+";", 1)
	}
	return script
}

// policySlot is where sw.js receives the headers that it must put on everything
// it answers: it runs nothing of a canvas, and has them from here, not from the
// page.
const policySlot = "const POLICY = {};"

// contentFiles are the files below /.ahp/ of every content host.
func contentFiles(a addresses) map[string]*file {
	return load(content, "content", "/.ahp/", func(name string, body []byte) ([]byte, map[string]string) {
		switch name {
		case "frame.html":
			return body, a.headers(outerFrame)
		case "sw.js":
			row := ahp.MustMarshal(a.headers(answer))
			body = []byte(embedded(content, "content/documents.js") + strings.Replace(string(body), policySlot, "const POLICY = "+string(row)+";", 1))
			headers := a.headers(outerFile)
			headers["Service-Worker-Allowed"] = "/"
			return body, headers
		}
		return body, a.headers(outerFile)
	})
}
