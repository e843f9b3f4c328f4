package bridge_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/bridge"
)

// hello is an app without a socket.
type hello struct{}

func (hello) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Status: "200 OK", Header: http.Header{}, Body: io.NopCloser(strings.NewReader("hello " + req.URL.Path))}, nil
}

// A host's Server and a page's Client, connected by messages only.
func Example() {
	page := canvas.View{Conn: 1}
	var server *bridge.Server
	client := bridge.NewClient(bridge.ClientOptions{Send: func(p ahp.Value) error {
		fmt.Println("page:", string(p))
		server.Message(context.Background(), page, p)
		return nil
	}})
	server, err := bridge.NewServer(bridge.Options{
		Origin: "http://127.0.0.1:3000", RoundTripper: hello{},
		Send: func(_ canvas.View, p ahp.Value) error {
			fmt.Println("host:", string(p))
			client.Message(p)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	resp, err := (&http.Client{Transport: client}).Get("http://canvas/world")
	if err != nil {
		fmt.Println(err)
		return
	}
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.Status, string(body))
	// Output:
	// page: {"x-ahp":"http/1","type":"request","id":1,"method":"GET","path":"/world","headers":[],"chunk":48000,"end":true}
	// host: {"x-ahp":"http/1","type":"response","id":1,"status":200,"statusText":"OK","headers":[],"end":true,"data":"aGVsbG8gL3dvcmxk"}
	// 200 OK hello /world
}
