package programtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// TestEvidenceRelay repeats all of it with a host and a client that cannot reach each
// other.
func TestEvidenceRelay(t *testing.T) {
	f := newFar(t)
	t.Run("no other way", f.noOtherWay)
	f.open(t)
	began := time.Now()
	f.all(t)
	t.Run("long stream", func(t *testing.T) { f.streamIsWhole(t, began) })
	t.Run("resource", f.resourceInGo)
	t.Run("relay killed", f.relayKilled)
	t.Run("soak", f.soak)
}

// noOtherWay checks that neither end can dial the other, even with a route.
func (f *far) noOtherWay(t *testing.T) {
	admin := hostAddress + ":" + adminPort
	if _, err := fetched(t, f.net.relay, "http://"+admin+"/healthz"); err != nil {
		t.Fatalf("the host's listener cannot be reached from its own network: %v", err)
	}
	for from, to := range map[string]string{f.net.client: admin, f.net.host: clientAddress + ":" + adminPort} {
		conn, err := dialer(from)(t.Context(), "tcp", to)
		if err == nil {
			conn.Close()
		}
		if !errors.Is(err, syscall.ENETUNREACH) {
			t.Errorf("%s dials %s: %v", from, to, err)
		}
	}
	for _, way := range [][3]string{{f.net.client, hostAddress, relayToClient}, {f.net.host, clientAddress, relayToHost}} {
		ip(t, "-n", way[0], "route", "add", way[1], "via", way[2])
		defer ip(t, "-n", way[0], "route", "del", way[1])
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if conn, err := dialer(f.net.client)(ctx, "tcp", admin); err == nil {
		conn.Close()
		t.Error("the relay's machine forwards packets")
	}
}

// streamIsWhole checks that a stream that was open all the time has missed no event and
// was not opened again.
func (f *far) streamIsWhole(t *testing.T, began time.Time) {
	got := in[[]float64](t, f.evidence, "live", `return [numbers.length, numbers.filter((n, i) => i && n !== numbers[i - 1] + 1).length, opened]`)
	t.Logf("a stream of %.0f events over %.0f s", got[0], time.Since(began).Seconds())
	if got[1] != 0 || got[2] != 1 {
		t.Errorf("it has %v gaps, and was opened %v times", got[1], got[2])
	}
}

// resourceInGo reads 10 MiB through the relay with the Go client.
func (f *far) resourceInGo(t *testing.T) {
	c := f.dial(t, client.Options{Subscriptions: []string{host.DefaultSession}})
	channel := f.channel(t, c, "big")
	if _, err := c.Subscribe(t.Context(), channel); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	content, err := c.ReadResource(t.Context(), channel, "ahp-canvas-content:/big/big.bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a resource of 10 MiB took %d ms in Go", time.Since(began).Milliseconds())
	if sha256.Sum256(content.Data) != sha256.Sum256(pattern(bigFile)) {
		t.Errorf("it came as %d other bytes", len(content.Data))
	}
}

// channel returns the channel of an open instance.
func (f *far) channel(t *testing.T, c *client.Client, instance string) string {
	t.Helper()
	s, _ := c.Session(host.DefaultSession)
	for _, ref := range s.OpenCanvases {
		if ref.InstanceID == instance {
			return ref.Channel
		}
	}
	t.Fatalf("%s is not open", instance)
	return ""
}

// soak runs for ten minutes and measures what host and relay use. With 50 rounds of
// relayKilled it needs -timeout 30m.
func (f *far) soak(t *testing.T) {
	if os.Getenv("AHP_LONG") != "1" {
		t.Skip("takes ten minutes: AHP_LONG=1")
	}
	in[any](t, f.evidence, "live", `window.soaking = true; (async () => { while (soaking) { await fetch("/once?id=" + crypto.randomUUID(), { method: "POST" }); await new Promise((r) => setTimeout(r, 50)) } })(); return 0`)
	in[any](t, f.evidence, "Files", `window.soaking = true; (async () => { while (soaking) { await (await fetch("/large")).arrayBuffer(); await new Promise((r) => setTimeout(r, 500)) } })(); return 0`)
	type use struct{ goroutines, files, memory float64 }
	measure := func(ns, address string) use {
		return use{numberOf(t, ns, address, "go_goroutines"), numberOf(t, ns, address, "process_open_fds"), numberOf(t, ns, address, "process_resident_memory_bytes") / 1e6}
	}
	var first [2]use
	tick := time.NewTicker(30 * time.Second)
	defer tick.Stop()
	for n := range 21 {
		now := [2]use{measure(f.net.host, hostAddress), measure(f.net.relay, "127.0.0.1")}
		t.Logf("%4d s: host %.0f goroutines, %.0f descriptors, %.0f MB; relay %.0f, %.0f, %.0f MB", n*30,
			now[0].goroutines, now[0].files, now[0].memory, now[1].goroutines, now[1].files, now[1].memory)
		if n == 1 {
			first = now
		}
		if n == 20 {
			for i, who := range []string{"host", "relay"} {
				if now[i].goroutines > first[i].goroutines+30 || now[i].files > first[i].files+30 || now[i].memory > 2*first[i].memory+50 {
					t.Errorf("the %s grows: %v, %v", who, first[i], now[i])
				}
			}
			break
		}
		<-tick.C
	}
	in[any](t, f.evidence, "live", `soaking = false`)
	in[any](t, f.evidence, "Files", `soaking = false`)
}
