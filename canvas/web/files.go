package web

import (
	"embed"
	"fmt"
	"html"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/allow"
)

// page is served on app hosts, content on content hosts.
var (
	//go:embed page
	page embed.FS
	//go:embed content
	content embed.FS
)

// mediaTypes are the content types by extension. With nosniff a wrong one fails at once.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",

	".webmanifest": "application/manifest+json",
}

// file is an embedded file with its placeholders filled in.
type file struct {
	body    []byte
	headers map[string]string
	packed  func() []byte // the body in gzip; nil for a file that is never packed
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, "this file accepts only GET and HEAD", f.headers)
		return
	}
	setHeaders(w, f.headers)
	body := f.body
	if f.packed != nil {
		w.Header().Set("Vary", "Accept-Encoding")
		if takesGzip(r) {
			body = f.packed()
			w.Header().Set("Content-Encoding", "gzip")
		}
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // fails only if the client disconnected
	}
}

// takesGzip reports whether a client names gzip without a weight, as browsers do.
func takesGzip(r *http.Request) bool {
	for name := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return true
		}
	}
	return false
}

// refuse answers with a text under the given policies: an error page without them
// could be framed and used to escape them.
func refuse(w http.ResponseWriter, status int, word string, headers map[string]string) {
	setHeaders(w, headers)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, word)
}

// load reads a folder of embedded files and names them below root.
func load(dir embed.FS, name, root string, fill func(name string, body []byte) ([]byte, map[string]string)) map[string]*file {
	entries, err := dir.ReadDir(name)
	if err != nil {
		panic(err) // the file is embedded, so a test would have failed
	}
	files := map[string]*file{}
	for _, e := range entries {
		body, headers := fill(e.Name(), []byte(embedded(dir, name+"/"+e.Name())))
		headers["Content-Type"] = mediaTypes[path.Ext(e.Name())]
		files[root+e.Name()] = &file{body: body, headers: headers}
	}
	return files
}

// pageFiles returns the page's files for one app origin. The page knows the lists that its
// content hosts have.
func pageFiles(a addresses, lists allow.Lists) map[string]*file {
	files := load(page, "page", "/", func(name string, body []byte) ([]byte, map[string]string) {
		k := appFile
		switch name {
		case "direct.html":
			k = directFile
		case "single.html":
			return []byte(strings.Replace(string(body), "{script}", singleScript(), 1)), a.headers(singleFile)
		}
		meta := strings.NewReplacer("{content}", html.EscapeString(a.content), "{app}", html.EscapeString(strings.Join(a.app, " ")),
			"{allowed}", html.EscapeString(string(lists.JSON())))
		if path.Ext(name) == ".html" {
			body = []byte(meta.Replace(string(body)))
		}
		return body, a.headers(k)
	})
	start := files["/index.html"]
	start.body = []byte(index().elements.Replace(string(start.body)))
	files["/"] = start
	files[builtScript] = &file{built, files["/app.js"].headers, packedScript}
	headers := a.headers(offlineFile)
	headers["Content-Type"] = mediaTypes[".js"]
	files[offlineWorker] = &file{body: offlineScript(a), headers: headers}
	return files
}

// IsPageFile reports whether app hosts serve a file of the page at a path, so that
// Options.App is not called.
func IsPageFile(path string) bool {
	name, ok := strings.CutPrefix(path, "/")
	if !ok {
		return false
	}
	_, err := fs.Stat(page, "page/"+name)
	return name == "" || path == offlineWorker || path == builtScript || err == nil
}

func embedded(dir embed.FS, name string) string {
	raw, err := dir.ReadFile(name)
	if err != nil {
		panic(err) // the file is embedded, so a test would have failed
	}
	return string(raw)
}

// singleScript returns assemble.js and single.js with the scripts that they insert into
// documents. They are inline in their page, because an opaque origin cannot load our scripts.
func singleScript() string {
	script := embedded(page, "page/assemble.js") + embedded(page, "page/single.js")
	for slot, text := range map[string]string{"CANVAS": embedded(content, "content/canvas.js"), "SHIM": embedded(content, "content/outline.js") + embedded(content, "content/sketch.js") + embedded(content, "content/problems.js") + embedded(page, "page/singleshim.js"), "SOCKETS": embedded(content, "content/sockets.js")} {
		quoted := strings.ReplaceAll(string(ahp.MustMarshal(text)), "<", `\u003c`) // "</script" would end the script element
		script = strings.Replace(script, "const "+slot+` = "";`, "const "+slot+" = "+quoted+";", 1)
	}
	return script
}

// policySlot is the place in sw.js for the headers of its responses. The host fills
// it in, so that no message of the page or a canvas can change them.
const policySlot = "const POLICY = {};"

// scriptSlot is the place in sw.js for canvas.js.
const scriptSlot = `const CANVAS = "";`

// socketsSlot is the place in sw.js for sockets.js.
const socketsSlot = `const SOCKETS = "";`

// allowedSlot is the place in sw.js and canvas.js for the origins that a canvas may load
// from besides its own.
const allowedSlot = "const ALLOWED = [];"

// contentFiles returns the files below /.ahp/ of each content host.
func contentFiles(a addresses) map[string]*file {
	return load(content, "content", "/.ahp/", func(name string, body []byte) ([]byte, map[string]string) {
		switch name {
		case "frame.html":
			return body, a.headers(outerFrame)
		case "clear.html":
			return body, a.headers(clearFrame)
		case "sw.js":
			row := ahp.MustMarshal(a.headers(answer))
			canvas := ahp.MustMarshal(string(withAllowed([]byte(embedded(content, "content/canvas.js")), a.allowed)))
			sockets := ahp.MustMarshal("(() => {" + embedded(content, "content/sockets.js") + "})();\n") // its strictness is not the worker's
			fill := strings.NewReplacer(policySlot, "const POLICY = "+string(row)+";", scriptSlot, "const CANVAS = "+string(canvas)+";", socketsSlot, "const SOCKETS = "+string(sockets)+";")
			body = []byte(embedded(content, "content/documents.js") + embedded(content, "content/tabs.js") + fill.Replace(string(withAllowed(body, a.allowed))))
			headers := a.headers(outerFile)
			headers["Service-Worker-Allowed"] = "/"
			return body, headers
		case "frame.js":
			return []byte(embedded(content, "content/outline.js") + embedded(content, "content/sketch.js") + embedded(content, "content/save.js") + string(body)), a.headers(outerFile)
		case "canvas.js":
			return withAllowed(body, a.allowed), a.headers(outerFile)
		case "shim.js":
			return []byte(embedded(content, "content/problems.js") + embedded(content, "content/sockets.js") + embedded(content, "content/asks.js") + embedded(content, "content/cookies.js") + embedded(content, "content/ownport.js") + string(body)), a.headers(outerFile)
		}
		return body, a.headers(outerFile)
	})
}

// frameFiles are the content files without the service worker. The outer frame's policy is
// that of the canvas's first navigation, whose redirects stay within the origin.
func frameFiles(a addresses) map[string]*file {
	files := contentFiles(a)
	delete(files, "/.ahp/sw.js")
	headers := files["/.ahp/frame.html"].headers
	headers["Connection-Allowlist"] += redirects
	headers["Content-Security-Policy"] += "; connect-src 'self'" // it fetches a new cookie
	return files
}

// withAllowed fills a script's allowedSlot in.
func withAllowed(script []byte, list allow.List) []byte {
	if len(list.Origins) == 0 {
		return script
	}
	return []byte(strings.Replace(string(script), allowedSlot, "const ALLOWED = "+string(ahp.MustMarshal(list.Origins))+";", 1))
}
