package sides

import (
	"bytes"
	"net"
	"sync"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// limitSide is what no server can be better than on this machine: the bytes of a
// whole burst, made beforehand, in one write to each socket, in a loop.
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
		Hello: proc.Answer{Addr: l.Addr().String()},
		Do: map[string]func(proc.Ask) (proc.Answer, error){
			"publish": func(ask proc.Ask) (proc.Answer, error) {
				burst := bytes.Repeat(frame, ask.N)
				for _, conn := range conns {
					if _, err := conn.Write(burst); err != nil {
						return proc.Answer{}, err
					}
				}
				return proc.Answer{}, nil
			},
			"connections": func(proc.Ask) (proc.Answer, error) {
				mu.Lock()
				defer mu.Unlock()
				return proc.Answer{N: int64(len(conns))}, nil
			},
		},
		Close: func() { _ = l.Close() },
	}, nil
}
