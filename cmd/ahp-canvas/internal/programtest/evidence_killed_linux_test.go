package programtest

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
)

// relayKilled kills and restarts the relay while a page posts. The page, the client and
// the host reconnect automatically, learn what the host did meanwhile, and repeat no
// request.
func (f *far) relayKilled(t *testing.T) {
	rounds := 5
	if os.Getenv("AHP_LONG") == "1" {
		rounds = 50
	}
	c := f.dial(t, client.Options{Subscriptions: []string{host.DefaultSession}, Backoff: client.NewBackoff()})
	in[any](t, f.evidence, "live", `window.kept = 1; window.acked = []; window.posted = 0; window.posting = true;
		(async () => { while (posting) { const id = "p" + posted++; try { const r = await fetch("/once?id=" + id, { method: "POST" }); if (r.ok) acked.push(id) } catch {} await new Promise((r) => setTimeout(r, 20)) } window.over = true })(); return 0`)
	cards := 10
	var hosts, pages, clients []float64
	for round := range rounds {
		instance := fmt.Sprintf("round%d", round)
		f.await(t, "live", fmt.Sprintf(`acked.length > %d`, 10+in[int](t, f.evidence, "live", `return acked.length`)))
		f.killRelay()
		f.tab.Wait(t, `document.body.dataset.lost === "true"`)
		if round == 0 {
			f.screenshot(t, "relay-gone")
		}
		f.m.do(0, "open", "counters", "--instance", instance, "--input", fmt.Sprintf(`{"title":"Round %d"}`, round))
		if round > 0 {
			f.m.do(0, "close", fmt.Sprintf("round%d", round-1))
		}
		f.startRelay(t)
		at := time.Now()
		f.registered(t)
		hosts = append(hosts, since(at))
		f.tab.Wait(t, fmt.Sprintf(`document.body.dataset.lost === "false" && document.querySelectorAll(".card").length === %d && [...document.querySelectorAll(".card .words")].every((w) => w.hidden)`, cards+1))
		pages = append(pages, since(at))
		f.followed(t, c, instance)
		clients = append(clients, since(at))
		f.lag(t, 3) // the page's streams are back
	}
	t.Logf("%d times killed; after the relay's start the host was back: %s", rounds, spread(hosts))
	t.Logf("the page: %s", spread(pages))
	t.Logf("the client: %s", spread(clients))
	f.askedOnce(t)
	f.sameState(t, c)
	f.shown(t, cards+1)
	f.screenshot(t, "after")
}

// followed waits until the client's copy of the session has an instance.
func (f *far) followed(t *testing.T, c *client.Client, instance string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); ; <-tick.C {
		s, _ := c.Session(host.DefaultSession)
		for _, ref := range s.OpenCanvases {
			if ref.InstanceID == instance && c.Err() == nil {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("the client does not follow any more: %v", c.Err())
		}
	}
}

// askedOnce compares what the page posted with what the app received.
func (f *far) askedOnce(t *testing.T) {
	in[any](t, f.evidence, "live", `posting = false`)
	f.await(t, "live", `window.over`)
	text, err := fetched(t, f.net.host, "http://127.0.0.1:"+f.live+"/asked")
	if err != nil {
		t.Fatal(err)
	}
	received := map[string]int{}
	if err := json.Unmarshal([]byte(text), &received); err != nil {
		t.Fatal(err)
	}
	acked := in[[]string](t, f.evidence, "live", `return acked`)
	t.Logf("the page posted %v times, had %d answers; the app received %d of them", in[float64](t, f.evidence, "live", `return posted`), len(acked), len(received))
	for id, n := range received {
		if n != 1 {
			t.Errorf("%s was asked %d times", id, n)
		}
	}
	for _, id := range acked {
		if received[id] == 0 {
			t.Errorf("%s has an answer, and the app never received it", id)
		}
	}
	if got := in[float64](t, f.evidence, "live", `return window.kept ?? 0`); got != 1 {
		t.Error("the page of a canvas was loaded again")
	}
}

// sameState compares the state of a client that stayed connected with that of one that
// connects now.
func (f *far) sameState(t *testing.T, c *client.Client) {
	now, err := client.Dial(t.Context(), f.server.AHP, client.Options{Token: f.server.ViewToken, NetDial: dialer(f.net.host), Subscriptions: []string{host.DefaultSession}})
	if err != nil {
		t.Fatal(err)
	}
	defer now.Close()
	want, _ := now.State(host.DefaultSession)
	got, _ := c.State(host.DefaultSession)
	if diff := cmp.Diff(encoded(want.State), encoded(got.State)); diff != "" || want.State == nil {
		t.Errorf("the session (-host +client):\n%s", diff)
	}
	s, _ := now.Session(host.DefaultSession)
	for _, ref := range s.OpenCanvases {
		want, err := now.Subscribe(t.Context(), ref.Channel)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Subscribe(t.Context(), ref.Channel)
		if diff := cmp.Diff(encoded(want.State), encoded(got.State)); diff != "" || err != nil {
			t.Errorf("%s (-host +client): %v\n%s", ref.InstanceID, err, diff)
		}
	}
}

// encoded returns a state as it travels, without what a client adds to it.
func encoded(state any) string { return string(ahp.MustMarshal(state)) }
