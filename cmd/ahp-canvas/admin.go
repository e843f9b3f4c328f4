package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

const adminUsage = "address for /healthz and /metrics (Prometheus), as in 127.0.0.1:9090 (default: none)"

// startAdmin serves health and metrics apart from everything else. They hold no
// secrets and ask for none; a web page may not read them all the same. The
// returned function ends it.
func startAdmin(address string, logger *slog.Logger, own ...prometheus.Collector) (stop func(), err error) {
	if address == "" {
		return func() {}, nil
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		return nil, startError(codeNotStarted, address, err)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(append(own, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))...)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	srv := adminServer(mux, isLoopback(ln.Addr()), logger)
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	return func() { _ = srv.Close(); <-done }, nil
}

// adminServer bounds what a connection may cost.
func adminServer(mux http.Handler, loopback bool, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: web.InTime(notForPages(mux, loopback)), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// notForPages refuses what a script in a browser asks for. Browsers say so
// themselves, but not of a page over plain http whose own name was bound to this
// address: so on loopback no name is taken but localhost.
func notForPages(next http.Handler, loopback bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case loopback && !namesLoopback(r.Host):
			http.Error(w, "this address is not known under that name", http.StatusMisdirectedRequest)
		case site != "" && site != "none" || r.Header.Get("Origin") != "":
			http.Error(w, "not for web pages", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// namesLoopback reports whether a Host header is localhost or a number, neither
// of which anybody can bind elsewhere.
func namesLoopback(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	return strings.EqualFold(name, "localhost") || net.ParseIP(name) != nil
}

func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// metric is one number with its fixed labels.
type metric struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func() float64
}

// metrics is a collector of such numbers.
type metrics []metric

func (m metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, one := range m {
		ch <- one.desc
	}
}

func (m metrics) Collect(ch chan<- prometheus.Metric) {
	for _, one := range m {
		ch <- prometheus.MustNewConstMetric(one.desc, one.kind, one.value())
	}
}

func gauge(name, help string, value func() float64) metric {
	return metric{prometheus.NewDesc("ahp_canvas_"+name, help, nil, nil), prometheus.GaugeValue, value}
}

// hostMetrics are a host's own numbers.
func hostMetrics(h *host.Host) prometheus.Collector {
	return metrics{
		gauge("connections", "AHP connections that are open, a relay's lanes included.", func() float64 { return float64(h.Connections()) }),
		gauge("open_canvases", "Canvases that are open in the default session.", func() float64 {
			open, err := h.Canvases().ListOpen(host.DefaultSession)
			if err != nil {
				return 0
			}
			return float64(len(open))
		}),
	}
}

// edgeMetrics are a relay's numbers. The only label is why somebody was refused,
// of which there are as many values as package relay has reasons.
type edgeMetrics struct{ edge *relay.Edge }

var (
	descHosts   = edgeDesc("hosts", "Hosts that are registered.")
	descWaiting = edgeDesc("lanes_waiting", "Clients that wait for their host to dial back.")
	descLanes   = edgeDesc("lanes", "Clients that are joined with their host; each is two connections.")
	descConns   = edgeDesc("connections", "WebSocket connections: of hosts, and both ends of lanes.")
	descOpened  = edgeDesc("lanes_opened_total", "Lanes that were joined.")
	descBytes   = edgeDesc("bytes_total", "Payload that was forwarded.", "to")
	descSlow    = edgeDesc("slow_total", "Lanes that ended because an end did not read.")
	descRefused = edgeDesc("refused_total", "Requests and connections that were turned away.", "reason")
)

func edgeDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("ahp_relay_"+name, help, labels, nil)
}

func (m edgeMetrics) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(m, ch) }

func (m edgeMetrics) Collect(ch chan<- prometheus.Metric) {
	s := m.edge.Stats()
	put := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	put(descHosts, prometheus.GaugeValue, float64(s.Hosts))
	put(descWaiting, prometheus.GaugeValue, float64(s.Waiting))
	put(descLanes, prometheus.GaugeValue, float64(s.Lanes))
	put(descConns, prometheus.GaugeValue, float64(s.Hosts+s.Waiting+2*s.Lanes))
	put(descOpened, prometheus.CounterValue, float64(s.LanesOpened))
	put(descBytes, prometheus.CounterValue, float64(s.BytesToHosts), "host")
	put(descBytes, prometheus.CounterValue, float64(s.BytesToClient), "client")
	put(descSlow, prometheus.CounterValue, float64(s.Slow))
	for reason, n := range s.Refused {
		put(descRefused, prometheus.CounterValue, float64(n), string(reason))
	}
}
