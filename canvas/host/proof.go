package host

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"

	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
)

var nonce = regexp.MustCompile(`^[0-9a-f]{32,64}$`)

// serveProof answers whether this host still listens at an address, before a page or
// program sends its token to a port that another program could have taken. The request
// names the address and a nonce of 32 to 64 hex digits. The answer is the proof of each
// token, one a line ([proof.Of]): it discloses no token, and a holder of one finds its
// line. It proves nothing for another address than the host's own, so another listener
// cannot pass the host's answer off as its own.
func (l *sites) serveProof(w http.ResponseWriter, r *http.Request) {
	s := l.of(r)
	if refusal := s.address(r); refusal != nil {
		l.refuse(w, refusal)
		return
	}
	at, n := r.URL.Query().Get("at"), r.URL.Query().Get("nonce")
	if !slices.Contains(s.hosts, at) {
		http.Error(w, "this host is not known under that name", http.StatusMisdirectedRequest)
		return
	}
	if !nonce.MatchString(n) {
		http.Error(w, "give a nonce of 32 to 64 hex digits", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	for _, t := range *l.keys.fixed.Load() {
		fmt.Fprintln(w, proof.Of(t.Secret, at, n))
	}
	if hash := l.keys.store.Hash(r.URL.Query().Get("id")); hash != "" {
		fmt.Fprintln(w, proof.Of(hash, at, n))
	}
}
