package sides

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// The params and the result of canvasOpen. The whole messages have about 330
// and 140 bytes.
var (
	callParams = ahp.Value(`{"channel":"ahp-session:/default","canvasId":"board","instanceId":"board-1","input":{"text":"` + strings.Repeat("y", 160) + `"}}`)
	callResult = ahp.Value(`{"url":"ahp-canvas-content:/board-1/index.html","title":"Board","status":"ready, 12 cards"}`)
)

const callMethod = "canvasOpen"

// library makes and answers calls over a WebSocket. Both ends use it: the host,
// which calls, and the client, which answers.
type library struct {
	// host takes over a connection and returns the function that calls.
	host func(w http.ResponseWriter, r *http.Request) (caller, error)
	// client dials and answers calls until the connection ends.
	client func(url string) error
}

// caller makes one call. flight reports whether calls are concurrent.
type caller func(ctx context.Context, flight bool) error

// callSide returns the process that calls. It serves one client at a time.
func callSide(lib library) func() (*proc.Side, error) {
	return func() (*proc.Side, error) {
		accepted := make(chan caller, 1)
		addr, srv, err := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if c, err := lib.host(w, r); err == nil {
				accepted <- c
			}
		}))
		if err != nil {
			return nil, err
		}
		var call caller
		return &proc.Side{
			Hello: proc.Response{Addr: "ws://" + addr},
			Do: map[string]func(proc.Request) (proc.Response, error){
				"accept": func(proc.Request) (proc.Response, error) {
					select {
					case call = <-accepted:
						return proc.Response{}, nil
					case <-time.After(10 * time.Second):
						return proc.Response{}, errors.New("no client connected in time")
					}
				},
				"flight": func(req proc.Request) (proc.Response, error) { return inFlight(call, req.N, req.Size) },
				"pace":   func(req proc.Request) (proc.Response, error) { return paced(call, req.N, req.Rate) },
			},
			Close: func() { _ = srv.Close() },
		}, nil
	}
}

// inFlight makes n calls, at most flight concurrently. If flight is 1, Times
// has the duration of each call.
func inFlight(call caller, n, flight int) (a proc.Response, err error) {
	begun := time.Now()
	if flight == 1 {
		a.Times = make([]time.Duration, n)
		for i := range n {
			from := time.Now()
			if err := call(context.Background(), false); err != nil {
				return a, err
			}
			a.Times[i] = time.Since(from)
		}
		a.Took = time.Since(begun)
		return a, nil
	}
	errs := make([]error, flight)
	var wg sync.WaitGroup
	for i := range flight {
		wg.Go(func() {
			for range n / flight {
				if errs[i] = call(context.Background(), true); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	a.Took = time.Since(begun)
	return a, errors.Join(errs...)
}

// paced makes n calls at a rate, without waiting for earlier ones.
func paced(call caller, n, rate int) (proc.Response, error) {
	a := proc.Response{Times: make([]time.Duration, n)}
	errs := make([]error, n)
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	var wg sync.WaitGroup
	for i := range n {
		<-tick.C
		from := time.Now()
		wg.Go(func() {
			errs[i] = call(context.Background(), true)
			a.Times[i] = time.Since(from)
		})
	}
	wg.Wait()
	return a, errors.Join(errs...)
}

// answerSide returns the process of the client.
func answerSide(lib library) func() (*proc.Side, error) {
	return func() (*proc.Side, error) {
		return &proc.Side{Do: map[string]func(proc.Request) (proc.Response, error){
			"dial": func(req proc.Request) (proc.Response, error) {
				go func() { _ = lib.client(req.Addr) }()
				return proc.Response{}, nil
			},
		}}, nil
	}
}

// bareLibrary is gorilla/websocket alone with the same bytes, which is the
// limit for the others. Calls one at a time involve no second goroutine; for
// concurrent calls one reader distributes the responses in order.
var bareLibrary = library{
	host: func(w http.ResponseWriter, r *http.Request) (caller, error) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return nil, err
		}
		return (&bareCaller{c: c, waiting: make(chan chan error, 4096)}).call, nil
	},
	client: func(url string) error {
		c, _, err := websocket.DefaultDialer.Dial(url, nil)
		if err != nil {
			return err
		}
		answer := []byte(`{"jsonrpc":"2.0","id":12345,"result":` + string(callResult) + `}`)
		for {
			if _, _, err := c.ReadMessage(); err != nil {
				return err
			}
			if err := c.WriteMessage(websocket.TextMessage, answer); err != nil {
				return err
			}
		}
	},
}

type bareCaller struct {
	c       *websocket.Conn
	mu      sync.Mutex
	reader  sync.Once
	waiting chan chan error
}

var bareRequest = []byte(`{"jsonrpc":"2.0","id":12345,"method":"` + callMethod + `","params":` + string(callParams) + `}`)

func (b *bareCaller) call(_ context.Context, flight bool) error {
	if !flight {
		if err := b.c.WriteMessage(websocket.TextMessage, bareRequest); err != nil {
			return err
		}
		_, _, err := b.c.ReadMessage()
		return err
	}
	b.reader.Do(func() { go b.read() })
	done := make(chan error, 1)
	b.mu.Lock()
	b.waiting <- done
	err := b.c.WriteMessage(websocket.TextMessage, bareRequest)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	return <-done
}

// read distributes the responses. The first concurrent call starts it, so calls
// one at a time must come before.
func (b *bareCaller) read() {
	for {
		_, _, err := b.c.ReadMessage()
		select {
		case done := <-b.waiting:
			done <- err
		default:
		}
		if err != nil {
			return
		}
	}
}
