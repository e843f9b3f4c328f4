package aamcanvas

import (
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/host/hosttest"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/site"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/aam/x402"
	"github.com/ahp-canvas/ahp-canvas/canvas/provider/board"
	"github.com/ahp-canvas/ahp-canvas/channels"
	"github.com/ahp-canvas/ahp-canvas/channels/sqlitestore"
)

// BenchmarkCall compares an agent's call of a site, free and paid, with the same invocation
// in Go, on a host and a site that keep everything on the disk. x-invoke and x-paid are the
// ratios of the medians.
func BenchmarkCall(b *testing.B) {
	dir := b.TempDir()
	hs, err := sqlitestore.Open(b.Context(), filepath.Join(dir, "store.db"), sqlitestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	h, err := host.New(host.Options{Store: hs})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = hs.Close() }) // after the host
	hosttest.Serve(b, h)
	if _, err := h.Add(board.New()); err != nil {
		b.Fatal(err)
	}
	ss, err := sqlitestore.Open(b.Context(), filepath.Join(dir, "site.db"), sqlitestore.Options{})
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	origin := "http://" + ln.Addr().String()
	var token string
	s, err := site.New(site.Config{
		Origin: origin, Site: site.Info{Name: "Board", Domain: "board.example"},
		Settle: &site.Settle{Later: site.Duration(5 * time.Minute)},
		Actions: []site.Action{
			{ID: "check", Extension: "board", Canvas: "board", Instance: "board", Action: "rename_list"},
			{ID: "buy", Extension: "board", Canvas: "board", Instance: "board", Action: "rename_list",
				Pricing: aam.Pricing{Type: aam.X402, Amount: "0.05", Currency: "USDC", Network: x402.BaseSepolia, PayTo: payTo}},
		},
	}, Executor{Canvases: h.Canvases(), Session: host.DefaultSession}, benchStore{ss}, site.Options{})
	if err != nil {
		b.Fatal(err)
	}
	srv := &http.Server{Handler: s.Handler()}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	b.Cleanup(func() { _ = srv.Close(); <-done; _ = s.Close(); _ = ss.Close() })
	post := func(path, contentType, body string, header http.Header) string {
		req, err := http.NewRequest(http.MethodPost, origin+path, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header = header.Clone()
		req.Header.Set("Content-Type", contentType)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		raw, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != 200 {
			b.Fatal(resp.Status, string(raw))
		}
		return string(raw)
	}
	post(site.PathAuthorize, "application/x-www-form-urlencoded", "vendor="+agentVendor, http.Header{"Origin": {origin}})
	code, err := s.Approve(s.Pending()[0].ID, site.Grant{PerDay: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(post(site.PathToken, "application/json", `{"code":"`+code+`"}`, http.Header{}), `"access_token":"`)
	token = rest[:68]
	header := http.Header{"Authorization": {"Bearer " + token}, "X-Agent-Vendor": {agentVendor}}
	titles := []string{`{"list":"To do","title":"A"}`, `{"list":"A","title":"To do"}`}
	n := 0
	next := func() string { n++; return titles[(n+1)%2] }
	post(site.PathActions+"check", "application/json", next(), header)
	post(site.PathActions+"check", "application/json", next(), header)
	measure := func(list []time.Duration, fn func()) []time.Duration {
		began := time.Now()
		fn()
		return append(list, time.Since(began))
	}
	var inGo, free, paid []time.Duration
	for b.Loop() { // side by side, so that all meet the same load
		for range 2 {
			inGo = measure(inGo, func() {
				if _, err := h.Canvases().Invoke(b.Context(), canvas.InvokeArgs{Session: host.DefaultSession, InstanceID: "board", ActionName: "rename_list", Input: ahp.Value(next())}); err != nil {
					b.Fatal(err)
				}
			})
		}
		for range 2 {
			free = measure(free, func() { post(site.PathActions+"check", "application/json", next(), header) })
		}
		for range 2 {
			pays := header.Clone()
			pays.Set("X-Payment", sign(b))
			paid = measure(paid, func() { post(site.PathActions+"buy", "application/json", next(), pays) })
		}
	}
	b.ReportMetric(float64(median(free))/float64(median(inGo)), "x-invoke")
	b.ReportMetric(float64(median(paid))/float64(median(inGo)), "x-paid")
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// benchStore is a site's store on the disk.
type benchStore struct{ *sqlitestore.Store }

// Commit implements site.Store.
func (s benchStore) Commit(ctx context.Context, changes ...site.Change) error {
	all := make([]channels.Change, 0, len(changes))
	for _, c := range changes {
		all = append(all, channels.Change{Key: c.Key, Value: c.Value, Delete: c.Value == nil})
	}
	return s.Store.Commit(ctx, all...)
}
