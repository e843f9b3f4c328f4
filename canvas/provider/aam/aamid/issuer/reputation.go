package issuer

import (
	"encoding/hex"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

// Limits of the reports.
const (
	maxPeople  = 10_000
	maxPerHash = 64 // sites, and vendors
)

// established is how many successful actions make a person known.
const established = 10

// reputation is what sites have reported about one person.
type reputation struct {
	first   time.Time
	sites   []string
	vendors []string
	actions int
	dispute int
}

// reputationAnswer is the answer about one person.
type reputationAnswer struct {
	UserHash  string   `json:"user_hash"`
	Band      string   `json:"trust_band"`
	FirstSeen string   `json:"first_seen,omitzero"`
	Sites     int      `json:"sites_used"`
	Actions   int      `json:"successful_actions"`
	Disputes  int      `json:"disputes"`
	Vendors   []string `json:"agent_vendors"`
}

// isHash reports whether a text is a SHA-256 in lower case hex.
func isHash(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32 && s == strings.ToLower(s)
}

// track takes a site's report.
func (i *Issuer) track(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	site, ok := i.opts.Sites[token]
	if !ok || token == "" {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "unauthorized"})
		return
	}
	var in struct {
		UserHash string    `json:"user_hash"`
		Vendor   string    `json:"agent_vendor"`
		Result   string    `json:"result"`
		Rest     ahp.Value `json:",embed"`
	}
	raw, err := io.ReadAll(r.Body)
	if err != nil || ahp.Unmarshal(raw, &in) != nil || !isHash(in.UserHash) || len(in.Vendor) > 128 || in.Result != "ok" && in.Result != "dispute" {
		answer(w, http.StatusBadRequest, map[string]string{"error": "want user_hash, agent_vendor and result (ok or dispute)"})
		return
	}
	if !i.record(in.UserHash, site, ahp.Line(in.Vendor, 128), in.Result == "ok") {
		answer(w, http.StatusInsufficientStorage, map[string]string{"error": "too many people are known"})
		return
	}
	answer(w, http.StatusOK, map[string]bool{"ok": true})
}

func (i *Issuer) record(hash, site, vendor string, good bool) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	k := i.known[hash]
	if k == nil {
		if len(i.known) >= maxPeople {
			return false
		}
		k = &reputation{first: i.opts.Now()}
		i.known[hash] = k
	}
	if !slices.Contains(k.sites, site) && len(k.sites) < maxPerHash {
		k.sites = append(k.sites, site)
	}
	if !slices.Contains(k.vendors, vendor) && len(k.vendors) < maxPerHash {
		k.vendors = append(k.vendors, vendor)
	}
	if good {
		k.actions++
	} else {
		k.dispute++
	}
	return true
}

// reputation answers what is known of a hash: an unknown person is a new one.
func (i *Issuer) reputation(w http.ResponseWriter, r *http.Request) {
	hash := r.PathValue("hash")
	if !isHash(hash) {
		answer(w, http.StatusBadRequest, map[string]string{"error": "want a SHA-256 in hex"})
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	out := reputationAnswer{UserHash: hash, Band: "new", Vendors: []string{}}
	if k := i.known[hash]; k != nil {
		out.FirstSeen, out.Sites, out.Actions, out.Disputes = k.first.UTC().Format(time.RFC3339), len(k.sites), k.actions, k.dispute
		out.Vendors = append(out.Vendors, k.vendors...)
		if k.actions >= established && k.dispute == 0 {
			out.Band = "established"
		}
	}
	answer(w, http.StatusOK, out)
}
