package rows

import (
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// idle connects subscribers and measures how much more heap and stack the
// servers hold after a collection.
func idle(e *Env) ([]figure.Figure, error) {
	kinds := []string{"host", "centrifuge", "nats", "notify"}
	values := map[string][]float64{}
	servers, all := map[string]*proc.Process{}, map[string]*receivers{}
	const warm = 100
	for _, kind := range kinds {
		server, err := e.start(kind)
		if err != nil {
			return nil, err
		}
		servers[kind], all[kind] = server, newReceivers()
		e.Cleanup(all[kind].close)
		if err := all[kind].join(e.Ctx, kind, server, warm, server.Hello.Channel); err != nil {
			return nil, err
		}
	}
	n := e.Pick(1000, 300)
	for range e.Rounds(3) {
		for _, kind := range kinds {
			before, err := servers[kind].Call(proc.Request{Do: "memory"})
			if err != nil {
				return nil, err
			}
			if err := all[kind].join(e.Ctx, kind, servers[kind], n, servers[kind].Hello.Channel); err != nil {
				return nil, err
			}
			after, err := servers[kind].Call(proc.Request{Do: "memory"})
			if err != nil {
				return nil, err
			}
			values[kind] = append(values[kind], float64(after.Heap-before.Heap)/float64(n)/1024)
		}
	}
	figures := []figure.Figure{{What: "idle connection, heap and stack", Unit: "KiB", Ours: values["host"], Target: figure.Target{AtMost: 11}}}
	for kind, name := range map[string]string{"centrifuge": "centrifuge", "nats": "nats-server core (TCP)", "notify": "jsonrpc2 stock"} {
		figures = append(figures, figure.Figure{What: "idle connection, heap and stack", Unit: "KiB", Peer: name, Ours: values["host"], Theirs: values[kind]})
	}
	return figures, nil
}
