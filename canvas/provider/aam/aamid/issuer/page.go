package issuer

import (
	"html/template"
	"net/http"
	"strings"
)

var page = template.Must(template.New("").Parse(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>AAM ID</title><style>body{font:1rem/1.5 system-ui;max-width:36rem;margin:2rem auto;padding:0 1rem}code,textarea{overflow-wrap:anywhere}textarea{width:100%;height:10rem}</style>
{{if .Credential}}<h1>Your credential</h1><p>Enter it on the agent's card. Whoever has it can act for you at {{.Site}} until it ends.</p><textarea readonly aria-label="Credential">{{.Credential}}</textarea>
{{else}}<h1>Let an agent act for you?</h1><p>An agent that calls itself <strong>{{.Agent}}</strong> asks for these permissions at <strong>{{.Site}}</strong>, as {{.Email}}:</p>
<ul>{{range .Scopes}}<li><code>{{.}}</code>{{end}}</ul>
<form method="post"><input type="hidden" name="agent" value="{{.Agent}}"><input type="hidden" name="site" value="{{.Site}}"><input type="hidden" name="scopes" value="{{.Joined}}"><button>Approve</button></form>{{end}}`))

// shown is what the page shows.
type shown struct {
	asked
	Email, Joined, Credential string
}

func (i *Issuer) page(w http.ResponseWriter, r *http.Request) {
	a, ok := read(r.URL.Query().Get)
	i.show(w, r, a, ok, "")
}

func (i *Issuer) show(w http.ResponseWriter, r *http.Request, a asked, ok bool, credential string) {
	p, signedIn := i.opts.Person(r)
	switch {
	case !ok:
		http.Error(w, "want agent, site and scopes", http.StatusBadRequest)
		return
	case !signedIn:
		http.Error(w, "sign in first", http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = page.Execute(w, shown{a, p.Email, strings.Join(a.Scopes, ","), credential}) // the client has left
}

// approve issues a credential. The form must come from this origin: another page could send
// it with the person's session.
func (i *Issuer) approve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Origin") != i.opts.Origin {
		http.Error(w, "the form was not sent from this page", http.StatusForbidden)
		return
	}
	a, ok := read(r.PostFormValue)
	p, signedIn := i.opts.Person(r)
	credential := ""
	if ok && signedIn {
		var err error
		if credential, err = i.Issue(p, a.Site, a.Agent, a.Scopes); err != nil {
			http.Error(w, "the credential could not be signed", http.StatusInternalServerError)
			return
		}
	}
	i.show(w, r, a, ok, credential)
}
