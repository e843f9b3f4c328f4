package host_test

import (
	"encoding/json"
	"net"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/web/webtest"
)

// The page shows without a reload that a client's canvas is stale when the client's
// connection ends, and ready after it reconnects (canvas/PROTOCOL.md section 5).
func TestPageFollowsAClientThatProvides(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h, err := host.New(host.Options{ViewToken: viewToken, AgentToken: agentToken})
	if err != nil {
		t.Fatal(err)
	}
	hosttest.ServeOn(t, h, ln)
	page := webtest.Start(t).Open(t, h.Link(host.DefaultSession))

	lost := nativeProvider(t, ln.Addr().String())
	<-lost.declared
	_, err = h.Canvases().Open(t.Context(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "editor", InstanceID: "e1"})
	if err != nil {
		t.Fatal(err)
	}
	card := func(availability string) string {
		return `document.querySelectorAll('.card[data-availability="` + availability + `"]').length === 1`
	}
	page.Wait(t, card("ready")+` && (window.seen = true)`)
	lost.end()
	page.Wait(t, card("stale")+` && window.seen && !document.querySelector(".card .badge.stale").hidden`)
	back := nativeProvider(t, ln.Addr().String())
	defer back.end()
	page.Wait(t, card("ready")+` && window.seen && document.querySelector(".card .badge.stale").hidden`)
}

// native is a client that provides one canvas over a real socket.
type native struct {
	socket   *ws.Conn
	declared chan struct{} // closed when the host has echoed its declarations
	done     chan struct{}
}

func nativeProvider(t *testing.T, address string) *native {
	t.Helper()
	socket, err := ws.Dial(t.Context(), "ws://"+address+"/ahp", ws.DialOptions{Token: agentToken})
	if err != nil {
		t.Fatal(err)
	}
	n := &native{socket: socket, declared: make(chan struct{}), done: make(chan struct{})}
	go n.serve()
	n.send(object{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": object{
		"channel": "ahp-root://", "clientId": "desk", "protocolVersions": []string{"0.6.0"},
		"initialSubscriptions": []string{host.DefaultSession}, "capabilities": object{"canvas": object{}},
	}})
	n.send(object{"jsonrpc": "2.0", "method": "dispatchAction", "params": object{
		"channel": host.DefaultSession, "clientSeq": 1, "action": object{"type": "session/activeClientSet", "activeClient": object{
			"clientId": "desk", "tools": []any{}, "canvasProviders": []any{object{"canvasId": "editor", "displayName": "Editor", "description": ""}},
		}},
	}})
	return n
}

func (n *native) send(v any) { _ = n.socket.WriteBatch([][]byte{ahp.MustMarshal(v)}) }

func (n *native) serve() {
	defer close(n.done)
	echoed := false
	for {
		msg, err := n.socket.ReadMessage()
		if err != nil {
			return
		}
		var f frame
		_ = json.Unmarshal(msg, &f)
		switch {
		case f.Method == "action" && !echoed:
			echoed = true
			close(n.declared)
		case f.Method == canvas.CanvasOpen.Name:
			n.send(object{"jsonrpc": "2.0", "id": f.ID, "result": object{"url": "https://example.com/", "title": "Notes"}})
		}
	}
}

// end closes the connection and waits for it.
func (n *native) end() {
	n.socket.Close(ws.CodeNormal, "")
	n.socket.Wait()
	<-n.done
}
