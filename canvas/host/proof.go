package host

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"slices"
)

// proofContext stands first in what a proof is of, so that it is good for nothing
// else.
const proofContext = "ahp-canvas host\n"

var nonce = regexp.MustCompile(`^[0-9a-f]{32,64}$`)

// serveProof lets a page see that it is still this host that listens, before it
// sends its token to a port that somebody else may have taken meanwhile. The page
// says at which name and port it is, and a nonce (32 to 64 hex digits); the answer
// has, a line for each token, the HMAC-SHA256 under it of
//
//	"ahp-canvas host\n" at "\n" nonce
//
// in hex. It tells nobody a token; who knows one finds its line. Only for addresses
// of ours is anything proven: who listens at another and passes the question on to
// us gets nothing to pass back.
func (h *Host) serveProof(w http.ResponseWriter, r *http.Request) {
	if refusal := h.guard.Address(r); refusal != nil {
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
		mac := hmac.New(sha256.New, []byte(t.Secret))
		fmt.Fprintf(mac, "%s%s\n%s", proofContext, at, n)
		fmt.Fprintln(w, hex.EncodeToString(mac.Sum(nil)))
	}
}
