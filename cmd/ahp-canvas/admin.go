package main

import (
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
)

// admin is where health and metrics are served.
type admin struct {
	listen string   // "" is nowhere
	names  []string // under which it is asked, beside its own
}

func (a *admin) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.listen, "admin", "", "address for /healthz and /metrics (Prometheus), as in 127.0.0.1:9090 (default: none)")
	f.StringArrayVar(&a.names, "admin-name", nil, "name under which that address is asked, as in metrics.example (repeatable; numbers, localhost and beyond loopback this machine's name need none)")
}

// check judges the flags, before anything is started that would have to end.
func (a *admin) check() error {
	for _, name := range a.names {
		if name == "" || strings.ContainsAny(name, ":/@*") {
			return &usage{text: fmt.Sprintf("--admin-name %s: give a name alone, as in metrics.example", name)}
		}
	}
	return nil
}

// start serves health and metrics apart from everything else. They hold no
// secrets and ask for none; a web page may not read them all the same. The
// returned function ends it.
func (a *admin) start(logger *slog.Logger, own ...prometheus.Collector) (stop func(), err error) {
	if a.listen == "" {
		return func() {}, nil
	}
	ln, err := net.Listen("tcp", a.listen)
	if err != nil {
		return nil, startError(codeNotStarted, a.listen, err)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(append(own, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))...)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	srv := adminServer(mux, adminNames(a.names, isLoopback(ln.Addr())), logger)
	(&web.ConnLimiter{Max: maxAdmin}).Watch(srv)
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	return func() { _ = srv.Close(); <-done }, nil
}

// maxAdmin is how many connections an admin listener has: of who looks after the
// program, and not of people.
const maxAdmin = 64

// adminServer bounds what a connection may cost.
func adminServer(mux http.Handler, names []string, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: web.BodyTimeout(notForPages(mux, names)), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// notForPages refuses what a script in a browser asks for. Browsers say so
// themselves, but not of a page over plain http whose own name was bound to this
// address, wherever it listens: so no name is taken but those given.
func notForPages(next http.Handler, names []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case !askedAs(r.Host, names):
			http.Error(w, "this address is not known under that name: give it with --admin-name", http.StatusMisdirectedRequest)
		case site != "" && site != "none" || r.Header.Get("Origin") != "":
			http.Error(w, "not for web pages", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// askedAs reports whether a Host header is one of the names, or a number, which
// nobody can bind elsewhere.
func askedAs(host string, names []string) bool {
	name := (&url.URL{Host: host}).Hostname()
	return net.ParseIP(name) != nil || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// adminNames are the names under which an admin listener is asked: localhost, what
// was given, and beyond loopback the machine's name, whole and without its domain,
// which whoever owns its network binds and no page elsewhere.
func adminNames(given []string, loopback bool) []string {
	names := append([]string{"localhost"}, given...)
	own, err := os.Hostname()
	if loopback || err != nil || own == "" {
		return names
	}
	short, _, _ := strings.Cut(own, ".")
	return append(names, own, short)
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
	return metricOf("ahp_canvas_"+name, help, prometheus.GaugeValue, value)
}

func metricOf(name, help string, kind prometheus.ValueType, value func() float64) metric {
	return metric{prometheus.NewDesc(name, help, nil, nil), kind, value}
}

// hostMetrics are a host's own numbers.
func hostMetrics(h *host.Host) prometheus.Collector {
	return append(crowdMetrics("ahp_canvas_", func() web.ConnStats { return h.Load().HTTP }), metrics{
		gauge("connections", "AHP connections that are open, a relay's lanes included.", func() float64 { return float64(h.Load().Connections) }),
		gauge("connections_max", "How many of them there may be (--max-connections).", func() float64 { return float64(h.Load().MaxConnections) }),
		metricOf("ahp_canvas_connections_refused_total", "AHP connections that were too many.", prometheus.CounterValue, func() float64 { return float64(h.Load().Refused) }),
		gauge("open_canvases", "Canvases that are open in the default session.", func() float64 {
			open, err := h.Canvases().ListOpen(host.DefaultSession)
			if err != nil {
				return 0
			}
			return float64(len(open))
		}),
	}...)
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
