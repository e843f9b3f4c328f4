package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"

	"github.com/gorilla/websocket"
)

// bareEnv makes the program the bare server.
const bareEnv = "AHP_ABUSE_BARE"

// bareMain is the process of the bare server: it returns each dispatch at once and does
// nothing else. What a client meets there beside an attack is what the machine does to
// any server, so it is not the host's.
func bareMain() int {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	fmt.Println("ws://" + ln.Addr().String() + "/")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // until the process that measures ends
		ln.Close()
	}()
	_ = http.Serve(ln, http.HandlerFunc(serveBare))
	return 0
}

func serveBare(w http.ResponseWriter, r *http.Request) {
	c, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer c.Close()
	id := ""
	for {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Channel   string
				ClientID  string
				ClientSeq int64
				Action    json.RawMessage
			}
		}
		if c.ReadJSON(&m) != nil {
			return
		}
		var answer any
		switch m.Method {
		case "dispatchAction":
			answer = map[string]any{"jsonrpc": "2.0", "method": "action", "params": map[string]any{
				"channel": m.Params.Channel, "action": m.Params.Action, "origin": map[string]any{"clientId": id, "clientSeq": m.Params.ClientSeq},
			}}
		case "initialize":
			id = m.Params.ClientID
			fallthrough
		default:
			answer = map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{}}
		}
		if c.WriteJSON(answer) != nil {
			return
		}
	}
}

// startBare starts the bare server, and returns a client that behaves there.
func startBare(ctx context.Context) (b *behaving, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	server := exec.CommandContext(ctx, self)
	server.Env = append(os.Environ(), bareEnv+"=1")
	in, err := server.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := server.Start(); err != nil {
		return nil, nil, err
	}
	end := func() {
		_ = in.Close()
		_ = server.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		end()
		return nil, nil, errors.New("the bare server did not start")
	}
	if b, err = behave(ctx, &target{url: strings.TrimSpace(line)}); err != nil {
		end()
		return nil, nil, err
	}
	return b, func() { b.stop(); end() }, nil
}
