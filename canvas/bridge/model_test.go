package bridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"
)

// noise returns a reproducible body of a size.
func noise(seed, size int) []byte {
	b := make([]byte, size)
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	for i := 0; i < len(b); i += 8 {
		v := r.Uint64()
		for j := i; j < min(i+8, len(b)); j++ {
			b[j] = byte(v)
			v >>= 8
		}
	}
	return b
}

func sum(b []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(b)
	return fmt.Sprintf("%x", h.Sum64())
}

// TestModel runs many concurrent requests of random sizes in both directions, with slow
// readers, slow apps and cancels. Data arrives unchanged, canceled requests end, and no
// more than the windows is buffered.
func TestModel(t *testing.T) {
	rounds, parallel := 6, 24
	if os.Getenv("AHP_LONG") != "" {
		rounds = 400
	}
	origin, rt := app(t, http.HandlerFunc(echoNoise))
	s, c := pair(t, Options{Origin: origin, RoundTripper: rt})
	stop := make(chan struct{})
	var watching, wg sync.WaitGroup
	peak := 0
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
				peak = max(peak, held(t, s, c))
			}
		}
	})
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	for worker := range parallel {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(worker)))
			for round := range rounds {
				if err := oneExchange(t.Context(), c, r); err != nil {
					t.Errorf("worker %d, round %d: %v", worker, round, err)
					return
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	watching.Wait()
	t.Logf("%d requests, at most %d KiB held", rounds*parallel, peak>>10)
	if n := len(c.calls); n != 0 {
		t.Errorf("%d calls are left at the client", n)
	}
	settled(t, s, c)
}

// settled waits until the connection's windows are complete, except for credit that is
// not due yet: no credit was lost.
func settled(t *testing.T, s *Server, c *Client) {
	t.Helper()
	var toPage, toHost int64
	for range 2000 {
		s.mu.Lock()
		l := s.conns[testView.Conn]
		toHost = l.received
		left := len(l.streams)
		s.mu.Unlock()
		l.out.mu.Lock()
		toPage = l.out.left
		l.out.mu.Unlock()
		c.mu.Lock()
		toPage += c.received
		c.mu.Unlock()
		c.out.mu.Lock()
		toHost += c.out.left
		c.out.mu.Unlock()
		if left == 0 && toPage == connToPage && toHost == connToHost {
			return
		}
		<-time.After(time.Millisecond)
	}
	t.Errorf("the connection's windows have %d and %d bytes, want %d and %d", toPage, toHost, connToPage, connToHost)
}

// held returns the buffered bytes, and fails the test if a request buffers more than
// its window.
func held(t *testing.T, s *Server, c *Client) (n int) {
	var boxes []*bodyBuffer
	s.mu.Lock()
	for _, l := range s.conns {
		for _, st := range l.streams {
			if st.upload != nil {
				boxes = append(boxes, st.upload)
			}
		}
	}
	s.mu.Unlock()
	c.mu.Lock()
	for _, cl := range c.calls {
		boxes = append(boxes, cl.in)
	}
	c.mu.Unlock()
	for _, i := range boxes {
		size := 0
		i.mu.Lock()
		for _, chunk := range i.chunks {
			size += len(chunk)
		}
		i.mu.Unlock()
		if size > streamWindow {
			t.Errorf("a request holds %d bytes", size)
		}
		n += size
	}
	return n
}

// echoNoise responds with the noise that the query names, and describes the received
// body in a header.
func echoNoise(w http.ResponseWriter, r *http.Request) {
	var seed, size, pause int
	_, _ = fmt.Sscanf(r.URL.RawQuery, "%d-%d-%d", &seed, &size, &pause)
	got, err := io.ReadAll(slow{r.Body, pause})
	if err != nil {
		return
	}
	w.Header().Set("X-Sum", sum(got))
	_, _ = w.Write(noise(seed, size))
}

// slow is a reader that yields to other goroutines.
type slow struct {
	io.Reader
	pause int
}

func (s slow) Read(p []byte) (int, error) {
	if s.pause > 0 {
		<-time.After(time.Duration(s.pause) * time.Microsecond)
	}
	return s.Reader.Read(p[:min(len(p), 9000)])
}

// oneExchange sends and reads one request, or cancels it on the way.
func oneExchange(ctx context.Context, c *Client, r *rand.Rand) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sizes := []int{0, 1, 1000, maxChunk, maxChunk + 1, 100_000, 700_000}
	up, down := noise(r.Int(), sizes[r.IntN(len(sizes))]), sizes[r.IntN(len(sizes))]
	seed := r.IntN(1 << 30)
	var body io.Reader = bytes.NewReader(up)
	if r.IntN(3) == 0 {
		body = io.MultiReader(body) // its length is not known
	}
	req, err := http.NewRequestWithContext(ctx, "POST", fmt.Sprintf("http://canvas/?%d-%d-%d", seed, down, r.IntN(2)*50), body)
	if err != nil {
		return err
	}
	cancels := r.IntN(4) == 0
	if cancels {
		stop := time.AfterFunc(time.Duration(r.IntN(3000))*time.Microsecond, cancel)
		defer stop.Stop()
	}
	resp, err := c.RoundTrip(req)
	if err != nil {
		return unless(cancels, err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(slow{resp.Body, r.IntN(2) * 50})
	switch {
	case err != nil:
		return unless(cancels, err)
	case resp.Header.Get("X-Sum") != sum(up):
		return fmt.Errorf("the app got another body than the %d bytes that were sent", len(up))
	case !bytes.Equal(got, noise(seed, down)):
		return fmt.Errorf("got another body than the %d bytes that were sent", down)
	}
	return nil
}

func unless(cancels bool, err error) error {
	if cancels && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}
