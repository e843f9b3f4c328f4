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

// street is where one listener at a time stands at the address.
type street struct {
	ahptest.Net

	mu    sync.Mutex
	wires []*wire
}

// wire notes what is said on it.
type wire struct {
	net.Conn
	mu   sync.Mutex
	said bytes.Buffer
}

func (w *wire) Write(b []byte) (int, error) {
	w.mu.Lock()
	w.said.Write(b)
	w.mu.Unlock()
	return w.Conn.Write(b)
}

func (s *street) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	nc, err := s.Net.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wires = append(s.wires, &wire{Conn: nc})
	return s.wires[len(s.wires)-1], nil
}

// heard is what was said on the connections so far, one text for each.
func (s *street) heard() (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.wires {
		w.mu.Lock()
		all = append(all, w.said.String())
		w.mu.Unlock()
	}
	return all
}

// moveIn serves at the address until the returned function is called.
func (s *street) moveIn(t *testing.T, h http.HandlerFunc) (leave func()) {
	t.Helper()
	l, err := s.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	return ahptest.Serve(t, l, &http.Server{Handler: h})
}

// prover answers as a host that has these tokens.
func prover(tokens ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		for _, tok := range tokens {
			fmt.Fprintln(w, proof.Of(tok, q.Get("at"), q.Get("nonce")))
		}
	}
}

func use(t *testing.T, d *proof.Door) error {
	t.Helper()
	nc, err := d.Dial(t.Context(), "tcp", address)
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

// The token goes to who has proven that he knows it, over that very connection; what
// takes his place does not get it; and he gets it again when he is back.
func TestDoor(t *testing.T) {
	endless := func(w http.ResponseWriter, r *http.Request) {
		for range 1 << 10 {
			_, _ = w.Write(make([]byte, 1<<10))
		}
		prover(token)(w, r)
	}
	for name, stranger := range map[string]http.HandlerFunc{
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
				var s street
				d := proof.NewDoor("ws://"+address+"/ahp", token, s.Dial)
				leave := s.moveIn(t, prover("agent", token))
				if err := use(t, d); err != nil {
					t.Fatal(err)
				}
				leave()
				if said := s.heard(); len(said) != 1 || !strings.Contains(said[0], "/proof?") || !strings.Contains(said[0], token) {
					t.Fatalf("the host heard %q", said)
				}
				leave = s.moveIn(t, stranger)
				began := time.Now()
				err := use(t, d)
				if took := time.Since(began); err == nil || took > 5*time.Second {
					t.Errorf("the stranger is entered after %v: %v", took, err)
				}
				if silent := name == "hangs" || name == "says much"; errors.Is(err, proof.ErrStranger) == silent {
					t.Errorf("the error is %v", err)
				}
				leave()
				if said := s.heard(); len(said) != 2 || strings.Contains(said[1], token) || strings.Contains(said[1], "Bearer") {
					t.Errorf("the stranger heard %q", said[1:])
				}
				defer s.moveIn(t, prover(token))()
				if err := use(t, d); err != nil {
					t.Errorf("back again: %v", err)
				}
			})
		})
	}
}

// Hosts of others have no proofs; they are entered, and not asked twice.
func TestDoorOfAnother(t *testing.T) {
	for name, of := range map[string]http.HandlerFunc{"not found": http.NotFound, "another token": prover("another")} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var s street
				d := proof.NewDoor("http://"+address+"/mcp", token, s.Dial)
				if err := use(t, d); err == nil {
					t.Fatal("nobody is there")
				}
				defer s.moveIn(t, of)()
				for range 2 {
					if err := use(t, d); err != nil {
						t.Fatal(err)
					}
				}
				if n := strings.Count(strings.Join(s.heard(), ""), "/proof?"); n != 1 || len(s.heard()) != 3 {
					t.Errorf("asked %d times on %d connections", n, len(s.heard()))
				}
			})
		})
	}
}

// A host of others that does not even answer the question keeps nobody waiting for
// long, the second time less; it is asked again all the same, and one that proves itself
// then is held to it.
func TestDoorOfOneThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s street
		var ours atomic.Bool
		defer s.moveIn(t, func(w http.ResponseWriter, r *http.Request) {
			if ours.Load() {
				prover(token)(w, r)
			} else if r.URL.Path == proof.Path {
				<-r.Context().Done()
			}
		})()
		d := proof.NewDoor("ws://"+address+"/ahp", token, s.Dial)
		for n, want := range []time.Duration{2 * time.Second, 500 * time.Millisecond, 500 * time.Millisecond} {
			began := time.Now()
			if err := use(t, d); err != nil || time.Since(began) != want {
				t.Errorf("dial %d took %v, want %v: %v", n, time.Since(began), want, err)
			}
		}
		ours.Store(true)
		if err := use(t, d); err != nil {
			t.Fatal(err)
		}
		ours.Store(false)
		began := time.Now()
		if err := use(t, d); err == nil || time.Since(began) != 5*time.Second {
			t.Errorf("a proven host that hangs is entered after %v: %v", time.Since(began), err)
		}
		if last := s.heard(); strings.Contains(last[len(last)-1], token) {
			t.Error("it was told the token")
		}
	})
}

// A host that has too many connections just now says nothing of what it knows: it
// is asked again, before and after it has proven itself.
func TestDoorOfAHostThatIsFull(t *testing.T) {
	full := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		http.Error(w, "too many connections", http.StatusServiceUnavailable)
	}
	synctest.Test(t, func(t *testing.T) {
		var s street
		d := proof.NewDoor("ws://"+address+"/ahp", token, s.Dial)
		for _, h := range []http.HandlerFunc{full, prover(token)} {
			leave := s.moveIn(t, h)
			if err := use(t, d); err != nil {
				t.Fatal(err)
			}
			leave()
		}
		leave := s.moveIn(t, full)
		if err := use(t, d); err == nil || errors.Is(err, proof.ErrStranger) {
			t.Errorf("full: %v", err)
		}
		leave()
		defer s.moveIn(t, prover("another"))()
		if err := use(t, d); !errors.Is(err, proof.ErrStranger) {
			t.Errorf("a stranger: %v", err)
		}
	})
}

// Where a certificate, or nobody, can say who that is, nothing is asked.
func TestDoorThatDoesNotAsk(t *testing.T) {
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
		t.Error("not asked where the token is in the URL")
	}
}

func asks(t *testing.T, url, token string) bool {
	t.Helper()
	var s street
	defer s.moveIn(t, prover(token))()
	if err := use(t, proof.NewDoor(url, token, s.Dial)); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(s.heard()[0], "/proof?")
}

// Who gives up waiting is told so at once.
func TestDoorEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s street
		defer s.moveIn(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := proof.NewDoor("ws://"+address+"/ahp", token, s.Dial).Dial(ctx, "tcp", address)
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func ExampleOf() {
	fmt.Println(proof.Of("a-view-token", "localhost:8080", "0123456789abcdef0123456789abcdef"))
	// Output: 23f175ed6c84dc436c442e94062a91c5a267622858a471fa79d3ecb78a401f02
}
