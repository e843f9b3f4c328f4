package sides

import (
	"io"
	"net/http"
	"strconv"

	"github.com/gorilla/websocket"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// bareSide responds to a message that is a number with a text message of so
// many bytes.
func bareSide() (*proc.Side, error) {
	body := Body("text", 16<<20)
	addr, srv, err := listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := new(websocket.Upgrader).Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer c.Close()
		for {
			_, msg, err := c.ReadMessage()
			if err != nil {
				return
			}
			n, err := strconv.Atoi(string(msg))
			if err != nil || n > len(body) || c.WriteMessage(websocket.TextMessage, body[:n]) != nil {
				return
			}
		}
	}))
	if err != nil {
		return nil, err
	}
	return &proc.Side{Hello: proc.Response{Addr: "ws://" + addr}, Close: func() { _ = srv.Close() }}, nil
}

func readFull(r io.Reader, b []byte) (int, error) { return io.ReadFull(r, b) }
