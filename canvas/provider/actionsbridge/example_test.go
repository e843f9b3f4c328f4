package actionsbridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	ab "github.com/ahp-canvas/ahp-canvas/canvas/provider/actionsbridge"
)

// A bridge with net/http alone: a runtime dials it, and its action is called.
func Example() {
	bridge := ab.New(ab.Options{})
	server := httptest.NewUnstartedServer(nil)
	address := server.Listener.Addr().String()
	server.Config.Handler = bridge.Handler(ab.DoorOptions{Hosts: []string{address}, Token: "secret"})
	server.Start()
	defer server.Close()
	defer bridge.Close()

	connected := make(chan string, 1)
	stop := bridge.Watch(func(e ab.Event) {
		if e.Kind == ab.Connected {
			connected <- e.Runtime.ID
		}
	})
	defer stop()
	go runtime("ws://" + address + "/extension?tkn=secret")

	id := <-connected
	value, err := bridge.Call(context.Background(), ab.Call{RuntimeID: id, Name: "page.title", Arguments: ahp.Value(`{}`)})
	fmt.Println(string(value), err == nil)
	_, err = bridge.Call(context.Background(), ab.Call{RuntimeID: id, Name: "page.shut"})
	fmt.Println(err.Code, err.HTTPStatus())
	// Output:
	// {"ok":true,"title":"Shop"} true
	// unknown_action 400
}

// runtime is a runtime with one action.
func runtime(address string) {
	socket, _, err := websocket.DefaultDialer.Dial(address, nil)
	if err != nil {
		return
	}
	defer socket.Close()
	_ = socket.WriteMessage(websocket.TextMessage, []byte(`{"type":"runtime_ready","runtime_id":"shop","url":"https://shop.example/","manifest":{"tools":[{"name":"page.title"}]}}`))
	for {
		var item ab.Item
		if socket.ReadJSON(&item) != nil {
			return
		}
		if item.Type == ab.TypeCall {
			_ = socket.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"action_call_output","call_id":%q,"runtime_id":"shop","output":{"ok":true,"title":"Shop"}}`, item.CallID))
		}
	}
}

// polling is a transport for runtimes that poll: items wait until the runtime fetches them.
type polling struct {
	mu    sync.Mutex
	items []ahp.Value
	ended bool
}

// maxPolled bounds the items that wait for the next poll.
const maxPolled = 256

func (p *polling) Send(item []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || len(p.items) == maxPolled {
		return errors.New("the runtime does not poll")
	}
	p.items = append(p.items, item)
	return nil
}

func (p *polling) Close(string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}

// take returns the items since the last poll.
func (p *polling) take() []ahp.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	items := p.items
	p.items = nil
	return items
}

// Another transport: the runtime posts its items, and the answer has the bridge's. One
// request at a time keeps the order.
func ExampleBridge_Attach() {
	bridge := ab.New(ab.Options{})
	defer bridge.Close()
	transport := &polling{}
	conn := bridge.Attach(transport, ab.Principal{Kind: ab.Program, Trusted: true})
	defer conn.Close()
	var one sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, ab.MaxItem))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		if len(body) > 0 {
			conn.Receive(body)
		}
		_ = json.NewEncoder(w).Encode(transport.take())
	}))
	defer server.Close()
	poll := func(item string) (items []ab.Item) {
		response, err := http.Post(server.URL, "application/json", strings.NewReader(item))
		if err != nil {
			return nil
		}
		defer response.Body.Close()
		_ = json.NewDecoder(response.Body).Decode(&items)
		return items
	}

	poll(`{"type":"runtime_ready","runtime_id":"shop","url":"https://shop.example/","manifest":{"tools":[{"name":"add"}]}}`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		value, err := bridge.Call(context.Background(), ab.Call{RuntimeID: "shop", Name: "add"})
		fmt.Println(string(value), err == nil)
	}()
	for answered := false; !answered; {
		for _, item := range poll("") {
			if item.Type == ab.TypeCall {
				poll(fmt.Sprintf(`{"type":"action_call_output","call_id":%q,"runtime_id":"shop","output":{"count":1}}`, item.CallID))
				answered = true
			}
		}
	}
	<-done
	// Output: {"count":1} true
}
