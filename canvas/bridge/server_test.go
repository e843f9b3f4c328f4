package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
)

// counted is an endless body that counts the bytes read.
type counted struct{ n atomic.Int64 }

func (c *counted) Read(p []byte) (int, error) { c.n.Add(int64(len(p))); return len(p), nil }
func (c *counted) Close() error               { return nil }

// roundTrip is a function as an http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answerWith(status int, body io.ReadCloser, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: body, ContentLength: -1}
}

// A body that is not read stops the sender after its window and one chunk.
func TestUnreadBodyStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		endless := &counted{}
		_, c := pair(t, Options{RoundTripper: roundTrip(func(*http.Request) (*http.Response, error) { return answerWith(200, endless), nil })})
		resp, err := c.RoundTrip(get(t, "/"))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := endless.n.Load(); n < streamWindow || n > streamWindow+maxChunk {
			t.Errorf("%d bytes were read for a reader that takes nothing", n)
		}
		if _, err := io.CopyN(io.Discard, resp.Body, 4<<20); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := endless.n.Load(); n > 4<<20+streamWindow+2*maxChunk {
			t.Errorf("%d bytes were read for a reader that took 4 MiB", n)
		}
		_ = resp.Body.Close()
	})
}

// Requests that are not read do not block others.
func TestNoStreamBlocksAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := pair(t, Options{RoundTripper: roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/flood" {
				return answerWith(200, &counted{}), nil
			}
			return answerWith(200, io.NopCloser(io.LimitReader(&counted{}, 3<<20))), nil
		})})
		for range 20 {
			resp, err := c.RoundTrip(get(t, "/flood"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
		}
		synctest.Wait()
		for range 5 {
			if resp, body := do(t, c, "GET", "/", ""); resp.StatusCode != 200 || len(body) != 3<<20 {
				t.Errorf("got %d bytes", len(body))
			}
		}
	})
}

// Upload bytes that the app does not read stay at the page.
func TestUnreadUploadStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := pair(t, Options{RoundTripper: roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})})
		endless := &counted{}
		ctx, cancel := context.WithCancel(t.Context())
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://canvas/", endless)
		var failed error
		var wg sync.WaitGroup
		wg.Go(func() { _, failed = c.RoundTrip(req) })
		synctest.Wait()
		if n := endless.n.Load(); n < streamWindow || n > streamWindow+maxChunk {
			t.Errorf("%d bytes were read for an app that takes nothing", n)
		}
		cancel()
		wg.Wait()
		if !errors.Is(failed, context.Canceled) {
			t.Errorf("the request ended with %v", failed)
		}
	})
}

func TestCancelReachesTheApp(t *testing.T) {
	for _, after := range []string{"head", "no head"} {
		t.Run(after, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				canceled := make(chan struct{})
				_, c := pair(t, Options{RoundTripper: roundTrip(func(r *http.Request) (*http.Response, error) {
					context.AfterFunc(r.Context(), func() { close(canceled) })
					if after == "head" {
						return answerWith(200, &counted{}), nil
					}
					<-r.Context().Done()
					return nil, r.Context().Err()
				})})
				ctx, cancel := context.WithCancel(t.Context())
				var wg sync.WaitGroup
				wg.Go(func() {
					if resp, err := c.RoundTrip(get(t, "/").WithContext(ctx)); err == nil {
						_, err = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
						if after != "head" || err != nil {
							t.Errorf("got an answer, %v", err)
						}
						<-ctx.Done()
						if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, context.Canceled) {
							t.Errorf("the body ended with %v", err)
						}
					}
				})
				synctest.Wait()
				select {
				case <-canceled:
					t.Error("the app's request was canceled too early")
				default:
				}
				cancel()
				<-canceled // or the test deadlocks
				wg.Wait()
			})
		})
	}
}

func TestViewGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := &script{}
		s, c := pair(t, Options{RoundTripper: app})
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = c.RoundTrip(get(t, "/")) })
		synctest.Wait()
		s.ViewGone(testView)
		synctest.Wait()
		if app.at(1).req.Context().Err() == nil {
			t.Error("the app's request lives on")
		}
		if len(s.conns) != 0 {
			t.Error("the conn is still registered")
		}
		c.Close()
		wg.Wait()
	})
}

func TestCloseFailsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, c := pair(t, Options{RoundTripper: &script{}})
		var failed error
		var wg sync.WaitGroup
		wg.Go(func() { _, failed = c.RoundTrip(get(t, "/")) })
		synctest.Wait()
		s.Close()
		wg.Wait()
		if !errors.Is(failed, &Error{Code: CodeClosed}) {
			t.Errorf("the request ended with %v", failed)
		}
	})
}

// If sending to a View fails, its requests to the app are canceled, whether the app
// is still sending or silent.
func TestSendFails(t *testing.T) {
	for name, body := range map[string]io.ReadCloser{"endless": &counted{}, "silent": newBodyBuffer(-1, nil)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { sendFails(t, body) })
		})
	}
}

func sendFails(t *testing.T, body io.ReadCloser) {
	canceled := make(chan struct{})
	s, err := NewServer(Options{
		Origin: "http://localhost", Send: func(canvas.View, ahp.Value) error { return errors.New("gone") },
		RoundTripper: roundTrip(func(r *http.Request) (*http.Response, error) {
			if i, ok := body.(*bodyBuffer); ok {
				i = newBodyBuffer(-1, nil)
				body = i
				context.AfterFunc(r.Context(), func() { i.fail(r.Context().Err(), true) })
			}
			context.AfterFunc(r.Context(), func() { close(canceled) })
			return answerWith(200, body), nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"http/1","type":"request","id":1,"method":"GET","path":"/","headers":[],"end":true}`))
	<-canceled // or the test deadlocks
	if c, ok := body.(*counted); ok && c.n.Load() > 2*maxChunk {
		t.Errorf("%d bytes were read in vain", c.n.Load())
	}
}

func TestTooManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // at the end, all active requests fail at once
		var errs []ahp.Value
		s, err := NewServer(Options{
			Origin: "http://localhost", RoundTripper: &script{}, Requests: 8, Uploads: 3,
			Send: func(_ canvas.View, p ahp.Value) error {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, p.Clone())
				return nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n <= 4; n++ {
			s.Message(t.Context(), testView, ahp.Value(fmt.Sprintf(`{"x-ahp":"http/1","type":"request","id":%d,"method":"POST","path":"/","headers":[]}`, n)))
		}
		if len(errs) != 1 || !strings.Contains(string(errs[0]), `"id":4,"status":503,"code":"busy"`) {
			t.Errorf("four uploads, of which three may be: %s", errs)
		}
		s.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"http/1","type":"body","id":1,"seq":0,"end":true}`))
		s.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"http/1","type":"request","id":5,"method":"POST","path":"/","headers":[]}`))
		if len(errs) != 1 {
			t.Errorf("an upload that was whole still counts: %s", errs)
		}
		for n := 6; n <= 10; n++ {
			s.Message(t.Context(), testView, ahp.Value(fmt.Sprintf(`{"x-ahp":"http/1","type":"request","id":%d,"method":"GET","path":"/","headers":[],"end":true}`, n)))
		}
		if len(errs) != 2 || !strings.Contains(string(errs[1]), `"id":10,"status":503,"code":"busy"`) {
			t.Errorf("nine requests, of which eight may be: %s", errs)
		}
		s.Close()
	})
}

func TestNewServerOrigin(t *testing.T) {
	for _, origin := range []string{"", "127.0.0.1:3000", "ftp://x", "http://", "http://[", "/x"} {
		if _, err := NewServer(Options{Origin: origin, RoundTripper: &script{}, Send: func(canvas.View, ahp.Value) error { return nil }}); err == nil {
			t.Errorf("%q is an origin", origin)
		}
	}
}

// No URL or text of the app's errors reaches a page.
func TestErrorsHoldNoURL(t *testing.T) {
	_, c := pair(t, Options{RoundTripper: roundTrip(func(r *http.Request) (*http.Response, error) {
		return nil, &url.Error{Op: "Get", URL: "http://127.0.0.1:3000/?token=secret", Err: errors.New("secret")}
	})})
	_, err := c.RoundTrip(get(t, "/"))
	if err == nil || strings.Contains(err.Error(), "secret") || !errors.Is(err, &Error{Code: CodeBroken}) {
		t.Errorf("the page gets %v", err)
	}
}

// A request no longer counts when the page receives its end.
func TestEndedRequestIsNotCounted(t *testing.T) {
	_, c := pair(t, Options{Requests: 1, RoundTripper: memory{[]byte("x")}})
	for n := range 2000 {
		if resp, err := c.RoundTrip(get(t, "/")); err != nil {
			t.Fatalf("request %d ended with %v", n, err)
		} else if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
	}
}

// A View's windows outlive a Server: if another takes over the canvas, no credit is
// lost or added.
func TestServerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &sentMessages{}
		opts := Options{Origin: "http://localhost", RoundTripper: &script{}, Send: func(_ canvas.View, p ahp.Value) error { return h.send(p) }}
		s, _ := NewServer(opts)
		s.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"http/1","type":"request","id":5,"method":"POST","path":"/","headers":[],"data":"aGVsbG8="}`))
		s.Close()
		if all := fmt.Sprintf("%s", h.all); len(h.all) != 2 || !strings.Contains(all, string(encodeAmounts("grant", 0, 0, 5))) || !strings.Contains(all, string(encodeError(5, errClosed))) {
			t.Errorf("the page received %s", all)
		}
		s, _ = NewServer(opts)
		defer s.Close()
		s.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"http/1","type":"credit","id":0,"lane":1048576}`))
		s.Message(t.Context(), testView, ahp.Value(`{"x-ahp":"http/1","type":"request","id":6,"method":"GET","path":"/","headers":[],"end":true}`))
		if l := s.conns[testView.Conn]; l.out.left != connToPage || len(l.streams) != 1 {
			t.Errorf("the connection's window is %d, it has %d requests", l.out.left, len(l.streams))
		}
	})
}
