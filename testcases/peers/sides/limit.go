package sides

import (
	"bytes"
	"net"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// limitSide is the fastest that a server can be on this machine: it writes the
// bytes of a whole burst, prepared in advance, with one write to each socket,
// in a loop.
func limitSide() (*proc.Side, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var conns []net.Conn
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
		}
	}()
	frame := append([]byte("head"), notification()...) // a WebSocket's header has four bytes
	return &proc.Side{
		Hello: proc.Response{Addr: l.Addr().String()},
		Do: map[string]func(proc.Request) (proc.Response, error){
			"publish": func(req proc.Request) (proc.Response, error) {
				burst := bytes.Repeat(frame, req.N)
				for _, conn := range conns {
					if _, err := conn.Write(burst); err != nil {
						return proc.Response{}, err
					}
				}
				return proc.Response{}, nil
			},
			"connections": func(proc.Request) (proc.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				return proc.Response{N: int64(len(conns))}, nil
			},
		},
		Close: func() { _ = l.Close() },
	}, nil
}
