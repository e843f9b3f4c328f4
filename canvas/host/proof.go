package host

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
)

var nonce = regexp.MustCompile(`^[0-9a-f]{32,64}$`)

// serveProof lets a page, or a program that reconnects, see that it is still this
// host that listens, before it sends its token to a port that somebody else may have
// taken meanwhile. Who asks says at which name and port the host is, and a nonce (32
// to 64 hex digits); the answer has the proof of each token, a line each ([proof.Of]).
// It tells nobody a token; who knows one finds its line. Only for addresses of ours
// is anything proven: who listens at another and passes the question on to us gets
// nothing to pass back.
func (h *Host) serveProof(w http.ResponseWriter, r *http.Request) {
	if refusal := h.guard.CheckAddress(r); refusal != nil {
		refusal.Write(w)
		return
	}
	at, n := r.URL.Query().Get("at"), r.URL.Query().Get("nonce")
	if !slices.Contains(h.addresses.hosts, at) {
		http.Error(w, "this host is not known under that name", http.StatusMisdirectedRequest)
		return
	}
	if !nonce.MatchString(n) {
		http.Error(w, "give a nonce of 32 to 64 hex digits", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	for _, t := range h.guard.Tokens {
		fmt.Fprintln(w, proof.Of(t.Secret, at, n))
	}
}
