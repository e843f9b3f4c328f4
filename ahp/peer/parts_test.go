package peer

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// An answer in parts arrives complete and in its order.
func TestReplyParts(t *testing.T) {
	var parts [][]byte
	for i := range 3000 {
		parts = append(parts, fmt.Appendf(nil, "%d,", i))
	}
	parts = append(append([][]byte{[]byte("[")}, parts...), []byte("0]"))
	result := bytes.Join(parts, nil)
	want := []string{`{"n":1}`, `{"jsonrpc":"2.0","id":7,"result":` + string(result) + `}`, `{"n":2}`}
	url, hosts := tcpHost(t, HandlerFunc(nil), Options{})
	g := dialTCP(t, url)
	host := <-hosts
	host.Push(text(want[0]))
	(&Request{peer: host, id: []byte("7")}).ReplyParts(len(result), slices.Values(parts))
	host.Push(text(want[2]))
	for _, w := range want {
		if _, got, err := g.ReadMessage(); err != nil || string(got) != w {
			t.Fatalf("got %.60q (%v), want %.60q", got, err, w)
		}
	}
	g.Close()
	<-host.Done()
	host.Wait()
	if j := (partsFrame{len(result), slices.Values(parts)}); !bytes.Equal(result, j.Bytes()) {
		t.Errorf("as one: %.60q", j.Bytes())
	}
}
