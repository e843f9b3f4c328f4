//go:build !linux

package rows

import (
	"net"
	"sync"
)

// sockets are each read by a goroutine.
type sockets struct {
	conns []net.Conn
	wg    sync.WaitGroup
}

// add reads conn until an error, and calls count with the result of each read.
func (s *sockets) add(conn net.Conn, count func(t *tail, buf []byte, n int, err error)) error {
	s.conns = append(s.conns, conn)
	s.wg.Go(func() {
		buf, t := make([]byte, 16<<10), tail{}
		for {
			n, err := conn.Read(buf[lead:])
			count(&t, buf, n, err)
			if err != nil {
				return
			}
		}
	})
	return nil
}

func (s *sockets) close() {
	for _, conn := range s.conns {
		_ = conn.Close()
	}
	s.wg.Wait()
}
