package site

import (
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Consent serves the sign-in page of a site that has users: GET and POST /agent/authorize.
// It signs its user in, shows the vendor and the actions, and calls ask.Approve when the user agrees; it
// shows the code, which the user gives to the agent.
type Consent func(w http.ResponseWriter, r *http.Request, ask Ask)

// Ask is what an agent asks a user for.
type Ask struct {
	// Vendor is whose agent asks. It is a claim.
	Vendor string
	// Actions are those that it asks for: known, and at least one.
	Actions []string
	// Approve returns the code for what the user grants. Grant.User must name the user.
	Approve func(Grant) (code string, err error)
}

const pageStyle = `:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem}
button{font:inherit;padding:.5rem 1rem}code,.number{font-family:ui-monospace,monospace}.number{font-size:2rem}li{overflow-wrap:anywhere}`

var pages = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Site}}</title><style>` + pageStyle + `</style></head><body><main>
{{if .Number}}<h1>Ask the owner of {{.Site}}</h1>
<p>Your request has this number:</p><p class="number" id="number">{{.Number}}</p>
<p>The owner sees it in the canvas “Agents”, compares the number, and gives you a code. Give the code to your agent. It is good for 10 minutes.</p>
{{else if .Vendor}}<h1>An agent asks to use {{.Site}}</h1>
<p>It says that it is from <code>{{.Vendor}}</code>. It asks for:</p>
<ul>{{range .Actions}}<li><code>{{.ID}}</code>{{with .Description}}: {{.}}{{end}}</li>{{end}}</ul>
<form method="post" action="authorize"><input type="hidden" name="vendor" value="{{.Vendor}}"><input type="hidden" name="actions" value="{{.IDs}}">
<button>Ask the owner</button></form>
{{else}}<h1>{{.Site}}</h1><p id="text">{{.Text}}</p>{{end}}
</main></body></html>
`))

// pagePolicy lets a page do nothing but show itself and send its form.
var pagePolicy = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
}()

// pageData is what a page shows.
type pageData struct {
	Site, Vendor, IDs, Number, Text string
	Actions                         []offered
}

// offered is an action on the page.
type offered struct{ ID, Description string }

func (s *Site) show(w http.ResponseWriter, status int, d pageData) {
	d.Site = ahp.Line(s.config.Site.Name, 80)
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = pages.Execute(w, d) // the client has left
}

// authorize serves the page of a person whose agent wants in.
func (s *Site) authorize(w http.ResponseWriter, r *http.Request) *Refusal {
	form := r.URL.Query()
	if r.Method == http.MethodPost {
		var bad *Refusal
		if form, bad = s.readForm(w, r); bad != nil {
			s.show(w, bad.Status, pageData{Text: bad.Message})
			return nil
		}
	}
	vendor, actions, bad := s.requested(form)
	if bad != nil {
		s.show(w, bad.Status, pageData{Text: bad.Message})
		return nil
	}
	if s.opts.Consent != nil {
		s.opts.Consent(w, r, Ask{vendor, actions, func(g Grant) (string, error) {
			if len(g.Actions) == 0 {
				g.Actions = actions
			}
			return s.issue(vendor, g)
		}})
		return nil
	}
	if r.Method == http.MethodPost {
		req, bad := s.file(vendor, actions)
		if bad != nil {
			w.Header().Set("Retry-After", seconds(bad.RetryAfter))
			s.show(w, bad.Status, pageData{Text: bad.Message})
			return nil
		}
		s.show(w, http.StatusOK, pageData{Number: req.ID})
		return nil
	}
	d := pageData{Vendor: vendor, IDs: strings.Join(actions, ",")}
	for _, id := range actions {
		a, _ := s.config.action(id)
		description, _, _ := s.describe(a)
		d.Actions = append(d.Actions, offered{id, ahp.Line(description, 200)})
	}
	s.show(w, http.StatusOK, d)
	return nil
}

// requested reads the vendor and the actions of a request. A request without actions is for
// all that need a credential.
func (s *Site) requested(form url.Values) (vendor string, actions []string, _ *Refusal) {
	if vendor = form.Get("vendor"); !vendorID.MatchString(vendor) {
		return "", nil, refuse(http.StatusBadRequest, CodeBadRequest, "The address must name the agent's vendor, as in ?vendor=assistant.example.")
	}
	if len(s.config.Vendors) > 0 && !slices.Contains(s.config.Vendors, vendor) {
		return "", nil, refuse(http.StatusForbidden, CodeForbidden, "This site lets no agents of that vendor in.")
	}
	for id := range strings.SplitSeq(form.Get("actions"), ",") {
		if id = strings.TrimSpace(id); id == "" {
			continue
		}
		if _, ok := s.config.action(id); !ok {
			return "", nil, refuse(http.StatusBadRequest, CodeBadRequest, "The address names an action that this site does not have.")
		}
		actions = append(actions, id)
	}
	if len(actions) == 0 {
		for _, a := range s.config.Actions {
			if !a.Public {
				actions = append(actions, a.ID)
			}
		}
	}
	if len(actions) == 0 {
		return "", nil, refuse(http.StatusBadRequest, CodeBadRequest, "All actions of this site are public; no permission is needed.")
	}
	return vendor, slices.Compact(slices.Sorted(slices.Values(actions))), nil
}

// readForm reads the page's form, which only the page itself can send from a browser.
func (s *Site) readForm(w http.ResponseWriter, r *http.Request) (url.Values, *Refusal) {
	if r.Header.Get("Origin") != s.config.Origin {
		return nil, refuse(http.StatusForbidden, CodeForbidden, "Only this site's own page can ask.")
	}
	r.Body = http.MaxBytesReader(w, r.Body, 4<<10)
	if err := r.ParseForm(); err != nil {
		return nil, refuse(http.StatusBadRequest, CodeBadRequest, "The form cannot be read.")
	}
	return r.PostForm, nil
}
