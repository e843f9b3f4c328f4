package listener

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

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// Admin is where health and metrics are served.
type Admin struct {
	// Listen is the address; "" serves neither.
	Listen string
	// Health returns why the program cannot do its work; nil, or no function, means that it
	// can.
	Health func() error
	// Degraded returns what the program cannot do although it works; nil, or no function,
	// means nothing. The answer is still 200.
	Degraded func() error
	// Names are host names for that address beside its own.
	Names []string
	// Code is the code of the error if the address cannot be used.
	Code string
}

// Flags adds --admin and --admin-name. Errors of the address have the code.
func (a *Admin) Flags(cmd *cobra.Command, code string) {
	a.Code = code
	f := cmd.Flags()
	f.StringVar(&a.Listen, "admin", "", "`address` for /healthz and /metrics (Prometheus), as in 127.0.0.1:9090 (default: none)")
	f.StringArrayVar(&a.Names, "admin-name", nil, "additional host `name` for the --admin address, as in metrics.example (repeatable; IP addresses, localhost and, beyond loopback, this machine's name are always accepted)")
}

// Check checks the flags.
func (a Admin) Check() error {
	for _, name := range a.Names {
		if name == "" || strings.ContainsAny(name, ":/@*") {
			return term.Usagef("--admin-name %q: want only a host name, as in metrics.example", name)
		}
	}
	if a.Listen == "" {
		return nil
	}
	return CheckAddress("--admin", a.Listen)
}

// Start serves health and metrics until stop is called. Both are without secrets and need
// no token, but web pages cannot read them.
func (a Admin) Start(logger *slog.Logger, own ...prometheus.Collector) (stop func(), err error) {
	if a.Listen == "" {
		return func() {}, nil
	}
	ln, err := net.Listen("tcp", a.Listen)
	if err != nil {
		return nil, Error(a.Code, "--admin", a.Listen, err)
	}
	reg := prometheus.NewRegistry()
	reg.MustRegister(append(own, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))...)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", a.serveHealth)
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: 4, EnableOpenMetrics: true}))
	srv := adminServer(mux, adminNames(a.Names, IsLoopback(ln.Addr())), logger)
	(&web.ConnLimiter{Max: maxAdmin}).Watch(srv)
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(ln) }()
	return func() { _ = srv.Close(); <-done }, nil
}

func (a Admin) serveHealth(w http.ResponseWriter, _ *http.Request) {
	if a.Health != nil {
		if err := a.Health(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	if a.Degraded != nil {
		if err := a.Degraded(); err != nil {
			fmt.Fprintf(w, "degraded: %v\n", err)
			return
		}
	}
	fmt.Fprintln(w, "ok")
}

// maxAdmin is the connection limit of the admin listener: only those who run the program
// connect to it.
const maxAdmin = 64

// adminServer limits how long a connection can stay and how large a header can be.
func adminServer(mux http.Handler, names []string, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler: web.BodyTimeout(notForPages(mux, names)), ReadHeaderTimeout: 10 * time.Second, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
}

// notForPages refuses requests of scripts in a browser. A browser marks them, except for
// a page over plain http whose own name was rebound to this address: so only the given
// names are accepted.
func notForPages(next http.Handler, names []string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case !acceptsHost(r.Host, names):
			http.Error(w, "unknown host name; add it with --admin-name", http.StatusMisdirectedRequest)
		case site != "" && site != "none" || r.Header.Get("Origin") != "":
			http.Error(w, "not for web pages", http.StatusForbidden)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// acceptsHost reports whether a Host header is one of the names or an IP address, which
// cannot be rebound.
func acceptsHost(host string, names []string) bool {
	name := (&url.URL{Host: host}).Hostname()
	return net.ParseIP(name) != nil || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

// adminNames returns the host names of an admin listener: localhost, the given ones and,
// beyond loopback, the machine's name with and without its domain. A web page cannot rebind
// that name: only the owner of the network can.
func adminNames(given []string, loopback bool) []string {
	names := append([]string{"localhost"}, given...)
	own, err := os.Hostname()
	if loopback || err != nil || own == "" {
		return names
	}
	short, _, _ := strings.Cut(own, ".")
	return append(names, own, short)
}
