package proof_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/ahp/proof"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }

const (
	address = "host.test:80"
	token   = "a-view-token"
)

// place is a network with at most one listener, at the address.
type place struct {
	ahptest.Net

	mu    sync.Mutex
	conns []*recordedConn
}

// recordedConn records what is written to it.
type recordedConn struct {
	net.Conn
	mu   sync.Mutex
	sent bytes.Buffer
}

func (w *recordedConn) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.sent.Write(b)
	w.mu.Unlock()
	return w.Conn.Write(b)
}

func (p *place) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := p.Net.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, &recordedConn{Conn: nc})
	return p.conns[len(p.conns)-1], nil
}

// received returns what was written to each connection so far.
func (p *place) received() (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.conns {
		w.mu.Lock()
		all = append(all, w.sent.String())
		w.mu.Unlock()
	}
	return all
}

// serve serves at the address until stop is called.
func (p *place) serve(t *testing.T, h http.HandlerFunc) (stop func()) {
	t.Helper()
	l, err := p.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	return ahptest.Serve(t, l, &http.Server{Handler: h})
}

// prover answers like a host that has these tokens.
func prover(tokens ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		for _, tok := range tokens {
			fmt.Fprintln(w, proof.Of(tok, q.Get("at"), q.Get("nonce")))
		}
	}
}

func connect(t *testing.T, v *proof.Verifier) error {
	t.Helper()
	nc, err := v.Dial(t.Context(), "tcp", address)
	if err != nil {
		return err
	}
	defer nc.Close()
	_, err = fmt.Fprintf(nc, "GET /ahp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", address, token)
	if err == nil {
		_, err = io.ReadAll(nc)
	}
	return err
}

// The token is sent only to a server that has proven on the same connection that it
// knows it. Another server at the address does not get it, and the host does again when
// it is back.
func TestVerifier(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for range 1 << 10 {
			_, _ = w.Write(make([]byte, 1<<10))
		}
		prover(token)(w, r)
	}
	for name, other := range map[string]http.HandlerFunc{
		"knows another token": prover("another"),
		"has no such page":    http.NotFound,
		"says nothing":        func(http.ResponseWriter, *http.Request) {},
		"says much":           endless,
		"hangs":               func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"is for another name": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, proof.Of(token, "elsewhere:80", r.URL.Query().Get("nonce")))
		},
		"repeats an answer": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, proof.Of(token, address, strings.Repeat("0", 32)))
		},
		"sends elsewhere": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.test/proof", http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s place
				v := proof.NewVerifier("ws://"+address+"/ahp", token, s.Dial)
				stop := s.serve(t, prover("agent", token))
				if err := connect(t, v); err != nil {
					t.Fatal(err)
				}
				stop()
				if sent := s.received(); len(sent) != 1 || !strings.Contains(sent[0], "/proof?") || !strings.Contains(sent[0], token) {
					t.Fatalf("the host received %q", sent)
				}
				stop = s.serve(t, other)
				began := time.Now()
				err := connect(t, v)
				if took := time.Since(began); err == nil || took > 5*time.Second {
					t.Errorf("connected to the other server after %v: %v", took, err)
				}
				if silent := name == "hangs" || name == "says much"; errors.Is(err, proof.ErrUnverified) == silent {
					t.Errorf("the error is %v", err)
				}
				stop()
				if sent := s.received(); len(sent) != 2 || strings.Contains(sent[1], token) || strings.Contains(sent[1], "Bearer") {
					t.Errorf("the other server received %q", sent[1:])
				}
				defer s.serve(t, prover(token))()
				if err := connect(t, v); err != nil {
					t.Errorf("back again: %v", err)
				}
			})
		})
	}
}

// Other AHP hosts have no proofs. They get the token, and are asked once.
func TestOtherHost(t *testing.T) {
	for name, of := range map[string]http.HandlerFunc{"not found": http.NotFound, "another token": prover("another")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s place
				v := proof.NewVerifier("http://"+address+"/mcp", token, s.Dial)
				if err := connect(t, v); err == nil {
					t.Fatal("connected without a server")
				}
				defer s.serve(t, of)()
				for range 2 {
					if err := connect(t, v); err != nil {
						t.Fatal(err)
					}
				}
				if n := strings.Count(strings.Join(s.received(), ""), "/proof?"); n != 1 || len(s.received()) != 3 {
					t.Errorf("asked %d times on %d connections", n, len(s.received()))
				}
			})
		})
	}
}

// A server that does not answer delays a connection for a short time, and later ones for
// less. It is asked each time. Once it has proven itself, it must do so always.
func TestServerThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s place
		var ours atomic.Bool
		defer s.serve(t, func(w http.ResponseWriter, r *http.Request) {
			if ours.Load() {
				prover(token)(w, r)
			} else if r.URL.Path == proof.Path {
				<-r.Context().Done()
			}
		})()
		v := proof.NewVerifier("ws://"+address+"/ahp", token, s.Dial)
		for n, want := range []time.Duration{2 * time.Second, 500 * time.Millisecond, 500 * time.Millisecond} {
			began := time.Now()
			if err := connect(t, v); err != nil || time.Since(began) != want {
				t.Errorf("dial %d took %v, want %v: %v", n, time.Since(began), want, err)
			}
		}
		ours.Store(true)
		if err := connect(t, v); err != nil {
			t.Fatal(err)
		}
		ours.Store(false)
		began := time.Now()
		if err := connect(t, v); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("connected to a proven host that hangs after %v: %v", time.Since(began), err)
		}
		if last := s.received(); strings.Contains(last[len(last)-1], token) {
			t.Error("the token was sent")
		}
	})
}

// A host with too many connections does not answer. It is asked again, before and after
// it has proven itself.
func TestFullHost(t *testing.T) {
	full := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
	}
	synctest.Test(t, func(t *testing.T) {
		var s place
		v := proof.NewVerifier("ws://"+address+"/ahp", token, s.Dial)
		for _, h := range []http.HandlerFunc{full, prover(token)} {
			stop := s.serve(t, h)
			if err := connect(t, v); err != nil {
				t.Fatal(err)
			}
			stop()
		}
		stop := s.serve(t, full)
		if err := connect(t, v); err == nil || errors.Is(err, proof.ErrUnverified) {
			t.Errorf("full: %v", err)
		}
		stop()
		defer s.serve(t, prover("another"))()
		if err := connect(t, v); !errors.Is(err, proof.ErrUnverified) {
			t.Errorf("another server: %v", err)
		}
	})
}

// Nothing is asked over TLS, at a relay, or without a token.
func TestNotAsked(t *testing.T) {
	for url, want := range map[string]bool{
		"ws://" + address + "/ahp": true, "http://" + address + "/mcp": true, "ws://HOST.test:80/ahp": true,
		"wss://" + address + "/ahp": false, "https://" + address + "/mcp": false,
		"ws://" + address + "/ahp/laptop": false, "ws://" + address + "/": false, "::": false,
	} {
		if asks(t, url, token) != want {
			t.Errorf("%s: asked: %t", url, !want)
		}
	}
	if asks(t, "ws://"+address+"/ahp", "") {
		t.Error("asked without a token")
	}
	if !asks(t, "ws://"+address+"/ahp?tkn="+token, "") {
		t.Error("not asked with the token in the URL")
	}
}

func asks(t *testing.T, url, token string) bool {
	t.Helper()
	var s place
	defer s.serve(t, prover(token))()
	if err := connect(t, proof.NewVerifier(url, token, s.Dial)); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(s.received()[0], "/proof?")
}

// A canceled Dial returns at once.
func TestDialCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s place
		defer s.serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := proof.NewVerifier("ws://"+address+"/ahp", token, s.Dial).Dial(ctx, "tcp", address)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func ExampleOf() {
	fmt.Println(proof.Of("a-view-token", "localhost:8080", "0123456789abcdef0123456789abcdef"))
	// Output: 23f175ed6c84dc436c442e94062a91c5a267622858a471fa79d3ecb78a401f02
}
