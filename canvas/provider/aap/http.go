package aap

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Protocol is the version of AAP.
const Protocol = "aap/1.0"

// Prefix is the path below which [NewHandler] serves.
const Prefix = "/api/agents/"

const (
	maxBody = 64 << 10 // bytes of a POST
	maxList = 1000     // records of a GET
)

// handler is the HTTP API.
type handler struct {
	store *Store
	may   func(*http.Request) bool
}

// NewHandler returns AAP's HTTP API, for the paths below [Prefix]. It judges no token:
// who mounts it decides who reaches it. If maySubmit is not nil, a POST is refused (403)
// unless it returns true.
//
// A page is answered as its file stands, without the bridge: dashboards insert their own.
// Its Content-Security-Policy keeps its scripts from running on this origin.
func NewHandler(s *Store, maySubmit func(*http.Request) bool) http.Handler {
	return &handler{s, maySubmit}
}

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := &response{ResponseWriter: w}
	defer func() {
		v := recover()
		if v == http.ErrAbortHandler || v != nil && out.begun {
			panic(v) // the server ends the connection
		}
		if v != nil {
			h.store.logger.Error("aap: a request panicked")
			writeError(w, errorf(CodeInternal, "", "The request failed"))
		}
	}()
	if err := h.serve(out, r); err != nil {
		e, ok := errors.AsType[*Error](err)
		if !ok {
			e = h.store.failed("the request", err)
		}
		writeError(out, e)
	}
}

// response remembers whether an answer was begun.
type response struct {
	http.ResponseWriter
	begun bool
}

func (r *response) WriteHeader(status int) { r.begun = true; r.ResponseWriter.WriteHeader(status) }

func (r *response) Write(b []byte) (int, error) { r.begun = true; return r.ResponseWriter.Write(b) }

// Unwrap is for http.ResponseController.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (h *handler) serve(w http.ResponseWriter, r *http.Request) error {
	agent, rest, found := strings.Cut(strings.TrimPrefix(r.URL.EscapedPath(), Prefix), "/")
	agent, err := url.PathUnescape(agent)
	switch {
	case err != nil || !found || !strings.HasPrefix(r.URL.Path, Prefix):
		return errorf(CodeNotFound, "", "Not found")
	case rest == "canvas/interactions":
		return h.interactions(w, r, agent)
	case rest == "canvas":
		if !isRead(r) {
			return notAllowed(w, "GET, HEAD")
		}
		return h.pages(w, r, agent)
	}
	return errorf(CodeNotFound, "", "Not found")
}

func (h *handler) interactions(w http.ResponseWriter, r *http.Request, agent string) error {
	switch {
	case isRead(r):
		return h.list(w, r, agent)
	case r.Method != http.MethodPost:
		return notAllowed(w, "GET, HEAD, POST")
	case h.may != nil && !h.may(r):
		http.Error(w, "this token may not submit interactions: they are a person's, so it needs the role view or client", http.StatusForbidden)
		return nil
	}
	return h.submit(w, r, agent)
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func notAllowed(w http.ResponseWriter, allow string) error {
	w.Header().Set("Allow", allow)
	return errorf(CodeNotAllowed, "", "The method is not allowed here")
}

// submit stores an interaction. Its content type does not count: a form of another site
// cannot forge it, because it has no token.
func (h *handler) submit(w http.ResponseWriter, r *http.Request, agent string) error {
	if _, err := h.store.Agent(agent); err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return errorf(CodeInvalidRequest, "", "The body could not be read")
	}
	if len(body) > maxBody {
		w.Header().Set("Connection", "close")
		return errorf(CodeTooLarge, "", "The body has more than %d bytes", maxBody)
	}
	in, err := ParseRequest(bytes.TrimSpace(body))
	if err != nil {
		return err
	}
	rec, err := h.store.Submit(r.Context(), agent, in)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, struct {
		ID      string `json:"id"`
		Summary string `json:"summary"`
	}{rec.ID, rec.Summary})
	return nil
}

func (h *handler) list(w http.ResponseWriter, r *http.Request, agent string) error {
	query := r.URL.Query()
	q := Query{Limit: defaultList}
	for _, field := range []string{"limit", "before", "file"} {
		if len(query[field]) > 1 {
			return errorf(CodeInvalidField, field, "%s must be given once", field)
		}
	}
	if query.Has("limit") {
		n, err := strconv.Atoi(query.Get("limit"))
		if err != nil || n < 1 || n > maxList {
			return errorf(CodeInvalidField, "limit", "limit must be a number from 1 to %d", maxList)
		}
		q.Limit = n
	}
	if q.File = query.Get("file"); q.File != "" && !ValidPath(q.File) {
		return badPath("file")
	}
	if query.Has("before") {
		if q.Before = query.Get("before"); q.Before == "" {
			return errorf(CodeInvalidField, "before", "before must be the id of a record")
		}
	}
	records, _, err := h.store.List(agent, q)
	if err != nil {
		return err
	}
	if records == nil {
		records = []ahp.Value{}
	}
	writeJSON(w, http.StatusOK, struct {
		Interactions []ahp.Value `json:"interactions"`
	}{records})
	return nil
}

// listedPage is a page in a list.
type listedPage struct {
	Page
	ModifiedAt string `json:"modifiedAt"`
}

// pages answers the list of pages, or one of them.
func (h *handler) pages(w http.ResponseWriter, r *http.Request, agent string) error {
	if file := r.URL.Query().Get("file"); file != "" {
		return h.page(w, agent, file)
	}
	pages, err := h.store.Pages(agent)
	if err != nil {
		return err
	}
	list := make([]listedPage, len(pages))
	for i, p := range pages {
		list[i] = listedPage{p, p.ModifiedAt.UTC().Format(timeLayout)}
	}
	writeJSON(w, http.StatusOK, struct {
		Protocol string       `json:"protocol"`
		Files    []listedPage `json:"files"`
	}{Protocol, list})
	return nil
}

func (h *handler) page(w http.ResponseWriter, agent, file string) error {
	html, _, err := h.store.Page(agent, file)
	if err != nil {
		return err
	}
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("X-Canvas-File", url.PathEscape(path.Base(file)))
	head.Set("Content-Security-Policy", "sandbox")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Cache-Control", "no-store")
	head.Set("Content-Length", strconv.Itoa(len(html)))
	_, _ = w.Write(html) // the client has left
	return nil
}

func writeError(w http.ResponseWriter, e *Error) {
	if e.Code == CodeRateLimited {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, e.HTTPStatus(), e)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	body, err := ahp.Marshal(v)
	if err != nil { // a record of another writer with a broken value
		status, body = http.StatusInternalServerError, ahp.MustMarshal(errorf(CodeInternal, "", "The answer could not be written"))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has left
}
