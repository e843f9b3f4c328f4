package aam_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/outbound"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
)

const (
	devKey = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80" // a public key of test networks
	token  = "agt_2354dd550089d210bd2b2354dd550089d210bd2b2354dd550089d210bd2b0000"
	payTo  = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"
)

// request is a request that a site has received.
type request struct {
	method, path, body string
	header             http.Header
}

// site is a foreign site on a real socket, written from AAM's text alone.
type site struct {
	*httptest.Server
	t testing.TB

	mu       sync.Mutex
	manifest string
	handlers map[string]http.HandlerFunc
	requests []request
}

// newSite publishes the manifest of AAM's specification for a test network.
func newSite(t testing.TB) *site {
	s := &site{t: t, handlers: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	raw := string(read(t, "manifest_cafe_rosso.json"))
	raw = strings.Replace(raw, `"network": "base"`, `"network": "base-sepolia"`, 1)
	s.manifest = strings.Replace(raw, "caferosso.com", "127.0.0.1", 1)
	s.handle(aam.WellKnown, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s.manifest) })
	s.handle("/api/aam/token", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"agent_token":%q,"expires_in":3600,"actions":["make_reservation"]}`, token)
	})
	return s
}

func (s *site) handle(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[path] = h
}

func (s *site) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests = append(s.requests, request{r.Method, r.URL.RequestURI(), string(body), r.Header.Clone()})
	h := s.handlers[r.URL.Path]
	s.mu.Unlock()
	if h == nil {
		http.NotFound(w, r)
		return
	}
	h(w, r)
}

// got returns the requests for a path.
func (s *site) got(path string) (list []request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.requests {
		if at, _, _ := strings.Cut(r.path, "?"); at == path {
			list = append(list, r)
		}
	}
	return list
}

// challenge is a 402 for an amount, in AAM's own spelling or in x402's.
func challenge(amount string, ours bool) http.HandlerFunc {
	r := x402.Requirement{Scheme: "exact", Network: "base-sepolia", MaxAmount: amount, MaxTimeout: 60,
		Asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e", PayTo: payTo}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(x402.Body("pay", r), &members)
	if ours {
		delete(members, "accepts")
		delete(members, "x402Version")
	} else {
		delete(members, "challenges")
	}
	body, _ := json.Marshal(members)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Payment-Required", "x402")
		w.WriteHeader(http.StatusPaymentRequired)
		_, _ = w.Write(body)
	}
}

// env is a client of a site.
type env struct {
	*aam.Client
	site   *site
	at     aam.Site
	vault  *aam.FileVault
	ledger *aam.Ledger
	dir    string
}

func newEnv(t testing.TB) *env {
	t.Helper()
	e := &env{site: newSite(t), dir: t.TempDir()}
	var err error
	if e.at, err = aam.ParseSite(e.site.URL, true); err != nil {
		t.Fatal(err)
	}
	key, err := aam.LoadKey(filepath.Join(e.dir, "key"))
	if err != nil {
		t.Fatal(err)
	}
	if e.vault, err = aam.OpenVault(filepath.Join(e.dir, "secrets.json"), key); err != nil {
		t.Fatal(err)
	}
	if e.ledger, err = aam.OpenLedger(filepath.Join(e.dir, "payments.json"), nil); err != nil {
		t.Fatal(err)
	}
	signer, err := x402.ParseKey(devKey)
	if err != nil {
		t.Fatal(err)
	}
	web := outbound.New(outbound.Options{Loopback: true, Timeout: time.Minute})
	t.Cleanup(func() { _ = web.Close() })
	e.Client = aam.New(aam.Options{HTTP: web, Vendor: "anthropic.com", Vault: e.vault, Ledger: e.ledger, Signer: signer})
	return e
}

func (e *env) manifest(t testing.TB) *aam.Manifest {
	t.Helper()
	m, _, err := e.Discover(t.Context(), e.at)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// reservation is a call of the paid action.
func reservation() aam.Call {
	return aam.Call{ID: aam.CallID(), Action: "make_reservation", Person: "maria",
		Params: ahp.Value(`{"date":"2026-05-02","time":"19:00","party_size":4,"name":"Tadeas"}`)}
}

func (e *env) signIn(t testing.TB, m *aam.Manifest) {
	t.Helper()
	if _, err := e.Exchange(t.Context(), m, e.at, "maria", "KQ7F-M2XW"); err != nil {
		t.Fatal(err)
	}
}

func code(err error) string {
	if e, ok := errors.AsType[*aam.Error](err); ok {
		return e.Code
	}
	return fmt.Sprint(err)
}

// noSecrets fails if a file of a folder has one of the secrets.
func noSecrets(t testing.TB, dir string, secrets ...string) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, s := range secrets {
			if strings.Contains(string(raw), s) {
				t.Errorf("%s has the secret %.8s…", filepath.Base(path), s)
			}
		}
		return nil
	})
}
