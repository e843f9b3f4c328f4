package relay_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
)

// tokens is an Authorizer for one host and one client.
type tokens struct{ host, client string }

func (a tokens) Authorize(_ context.Context, audience relay.Audience, token, host string) (relay.Grant, error) {
	want := map[relay.Audience]string{relay.ForHost: a.host, relay.ForClient: a.client}[audience]
	if token != want || host != "laptop" {
		return relay.Grant{}, relay.ErrUnknownToken
	}
	return relay.Grant{Subject: "ann"}, nil
}

// A host registers with a relay, and a client reaches it through the relay.
func Example() {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	edge := relay.New(relay.EdgeOptions{
		Hosts:      []string{ln.Addr().String()},
		Authorizer: tokens{host: "of the host", client: "of the client"},
	})
	server := &http.Server{Handler: edge, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(ln) }()
	defer server.Close()
	defer edge.Close(context.Background())

	registered := make(chan struct{})
	uplink, err := relay.NewUplink(relay.UplinkOptions{
		URL: "ws://" + ln.Addr().String(), Token: "of the host", Host: "laptop",
		Serve: func(_ context.Context, socket *ws.Conn, lane relay.LaneInfo) {
			question, _ := socket.ReadMessage()
			_ = socket.WriteBatch([][]byte{fmt.Appendf(nil, "%s, you asked %q", lane.Subject, question)})
			socket.Close(ws.CodeNormal, "")
		},
		Progress: func(p relay.Progress) {
			if p.State == relay.Registered {
				close(registered)
			}
		},
	})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- uplink.Run(ctx) }()
	<-registered

	client, err := ws.Dial(ctx, "ws://"+ln.Addr().String()+"/ahp/laptop", ws.DialOptions{Token: "of the client"})
	if err != nil {
		panic(err)
	}
	_ = client.WriteBatch([][]byte{[]byte("who am I?")})
	answer, _ := client.ReadMessage()
	fmt.Println(string(answer))
	client.Close(ws.CodeNormal, "")
	client.Wait()
	stop()
	fmt.Println("host ended:", <-ended)
	// Output:
	// ann, you asked "who am I?"
	// host ended: <nil>
}
