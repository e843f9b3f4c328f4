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

// The request and the result of a canvasOpen, of about 330 and 140 bytes as
// whole messages.
var (
	askParams = ahp.Value(`{"channel":"ahp-session:/default","canvasId":"board","instanceId":"board-1","input":{"text":"` + strings.Repeat("y", 160) + `"}}`)
	askResult = ahp.Value(`{"url":"ahp-canvas-content:/board-1/index.html","title":"Board","status":"ready, 12 cards"}`)
)

const askMethod = "canvasOpen"

// library is a way to ask over a WebSocket. Both ends use it: the host, which
// calls, and the client, which answers.
type library struct {
	// host takes a connection over and returns how to call. flight is how many
	// calls there may be at once.
	host func(w http.ResponseWriter, r *http.Request) (caller, error)
	// client dials and answers everything until the connection ends.
	client func(url string) error
}

// caller makes one call; flight says whether others are under way.
type caller func(ctx context.Context, flight bool) error

// callSide is the process that calls. It waits for one client at a time.
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
			Hello: proc.Answer{Addr: "ws://" + addr},
			Do: map[string]func(proc.Ask) (proc.Answer, error){
				"accept": func(proc.Ask) (proc.Answer, error) {
					select {
					case call = <-accepted:
						return proc.Answer{}, nil
					case <-time.After(10 * time.Second):
						return proc.Answer{}, errors.New("no client came")
					}
				},
				"flight": func(ask proc.Ask) (proc.Answer, error) { return inFlight(call, ask.N, ask.Size) },
				"pace":   func(ask proc.Ask) (proc.Answer, error) { return paced(call, ask.N, ask.Rate) },
			},
			Close: func() { _ = srv.Close() },
		}, nil
	}
}

// inFlight makes n calls, so many at a time. Times has each one's where it is
// one at a time.
func inFlight(call caller, n, flight int) (a proc.Answer, err error) {
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

// paced makes n calls at a rate, whatever became of those before.
func paced(call caller, n, rate int) (proc.Answer, error) {
	a := proc.Answer{Times: make([]time.Duration, n)}
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

// answerSide is the process of the client.
func answerSide(lib library) func() (*proc.Side, error) {
	return func() (*proc.Side, error) {
		return &proc.Side{Do: map[string]func(proc.Ask) (proc.Answer, error){
			"dial": func(ask proc.Ask) (proc.Answer, error) {
				go func() { _ = lib.client(ask.Addr) }()
				return proc.Answer{}, nil
			},
		}}, nil
	}
}

// bareLibrary is gorilla alone with the same bytes: the limit. One call at a time
// hands nothing over between goroutines; of several, one reader hands the answers
// out in their order.
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
		answer := []byte(`{"jsonrpc":"2.0","id":12345,"result":` + string(askResult) + `}`)
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

var bareAsk = []byte(`{"jsonrpc":"2.0","id":12345,"method":"` + askMethod + `","params":` + string(askParams) + `}`)

func (b *bareCaller) call(_ context.Context, flight bool) error {
	if !flight {
		if err := b.c.WriteMessage(websocket.TextMessage, bareAsk); err != nil {
			return err
		}
		_, _, err := b.c.ReadMessage()
		return err
	}
	b.reader.Do(func() { go b.read() })
	done := make(chan error, 1)
	b.mu.Lock()
	b.waiting <- done
	err := b.c.WriteMessage(websocket.TextMessage, bareAsk)
	b.mu.Unlock()
	if err != nil {
		return err
	}
	return <-done
}

// read hands the answers out. It is begun by the first call of several, so
// calls one at a time come before.
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
