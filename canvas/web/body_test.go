package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// withBodyTimeout serves one connection with a handler behind [web.BodyTimeout], on a
// fake clock.
func withBodyTimeout(t *testing.T, h http.HandlerFunc) *ahptest.Conn {
	network := &ahptest.Net{}
	ln, err := network.Listen("mem:80")
	if err != nil {
		t.Fatal(err)
	}
	ahptest.Serve(t, ln, &http.Server{Handler: web.BodyTimeout(h)})
	c, err := network.Dial(t.Context(), "", "mem:80")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*ahptest.Conn)
}

// A body that keeps arriving has no time limit, and neither has its response.
func TestSlowBodiesAndLongResponses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := withBodyTimeout(t, func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Errorf("after %q: %v", body, err)
			}
			for range 5 {
				select {
				case <-time.After(time.Hour):
				case <-r.Context().Done():
					t.Error("the answer was cut")
					return
				}
				fmt.Fprint(w, "x")
				_ = http.NewResponseController(w).Flush()
			}
		})
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: mem\r\nContent-Length: 5\r\n\r\n")
		for range 5 {
			time.Sleep(29 * time.Second)
			fmt.Fprint(c, "x")
		}
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		if body, err := io.ReadAll(resp.Body); err != nil || string(body) != "xxxxx" {
			t.Errorf("%q, %v", body, err)
		}
	})
}

// A body that stalls fails, also if a handler reads it.
func TestStalledBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := make(chan error, 1)
		c := withBodyTimeout(t, func(_ http.ResponseWriter, r *http.Request) {
			_, err := io.ReadAll(r.Body)
			read <- err
		})
		began := time.Now()
		fmt.Fprint(c, "POST / HTTP/1.1\r\nHost: mem\r\nContent-Length: 5\r\n\r\nx")
		select {
		case err := <-read:
			if err == nil {
				t.Error("half a body was taken for a whole one")
			}
		case <-time.After(time.Hour):
			t.Error("the handler still waits")
		}
		_ = c.SetReadDeadline(began.Add(time.Hour))
		if _, err := io.Copy(io.Discard, c); err != nil {
			t.Errorf("the connection is still there after %v: %v", time.Since(began), err)
		}
	})
}

// A client that requests files and does not read them is disconnected. Nothing else
// would do that, because no token is needed.
func TestUnreadFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := web.New(web.Options{AppOrigins: []string{"http://mem"}})
		if err != nil {
			t.Fatal(err)
		}
		request := strings.Repeat("GET /app.js HTTP/1.1\r\nHost: mem\r\n\r\n", 200) // more than a buffer holds
		if kept := ahptest.ConnLifetime(t, &http.Server{Handler: h}, request); kept > time.Minute {
			t.Error("it is still there after", kept)
		}
	})
}

// Options.App can take any time to respond, also on a connection on which a file was
// sent before.
func TestLongResponseAfterAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, err := web.New(web.Options{AppOrigins: []string{"http://mem"}, App: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Hour)
			fmt.Fprint(w, "late")
		})})
		if err != nil {
			t.Fatal(err)
		}
		c := withBodyTimeout(t, h.ServeHTTP)
		in := bufio.NewReader(c)
		for _, path := range []string{"/app.js", "/mcp"} {
			fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: mem\r\n\r\n", path)
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(path, err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || path == "/mcp" && string(body) != "late" {
				t.Errorf("%s: %.20q, %v", path, body, err)
			}
		}
	})
}
