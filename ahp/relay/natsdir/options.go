package natsdir

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/ahp-canvas/ahp-canvas/ahp/relay"
)

// Options configures a [Directory]. URLs and Edges are required; other fields that are zero
// have the defaults that their comments name.
type Options struct {
	// URLs are NATS servers of one cluster: nats://nats.example:4222, or tls://. The
	// directory finds the other servers of the cluster through them.
	URLs []string
	// Creds is a file with NATS credentials; "" for none.
	Creds string
	// CA is a file with the certificates that can sign a server's; "" is the system's.
	CA string
	// Cert and Key are files with a client certificate; "" for none.
	Cert, Key string
	// Prefix is the first part of all subjects ("ahp-relay"), so that fleets can share a
	// cluster.
	Prefix string
	// Edges are the edges of the fleet. An offer that names another one is refused.
	Edges relay.Edges

	// Timeout limits the time for the answer to an offer (2 s).
	Timeout time.Duration
	// Heartbeat is how often an edge sends a sign of life (2 s). An edge that
	// sent none for three times as long is lost.
	Heartbeat time.Duration
	// Spread is the time over which many registrations are announced again (5 s).
	Spread time.Duration
	// Pending limits the messages from NATS that wait in this process (4096).
	Pending int

	// Connect are further options of the connection; they come last.
	Connect []nats.Option
	// Logger receives the directory's log; nil discards it.
	Logger *slog.Logger
}

// ValidPrefix reports whether subjects can begin with a name.
func ValidPrefix(name string) bool { return validPrefix.MatchString(name) }

var validPrefix = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64}){0,3}$`)

// check returns an error if the options are not valid. It does not quote the URLs, which can
// hold a password.
func (o Options) check() error {
	for _, at := range o.URLs {
		u, err := url.Parse(at)
		if err != nil || u.Hostname() == "" || !strings.Contains(" nats tls ws wss ", " "+u.Scheme+" ") {
			return errors.New("natsdir: want NATS URLs of the form nats://nats.example:4222")
		}
	}
	switch {
	case len(o.URLs) == 0:
		return errors.New("natsdir: Options.URLs is empty; a NATS server is required")
	case !ValidPrefix(o.Prefix):
		return fmt.Errorf("natsdir: prefix %q is not 1 to 4 names of letters, digits, - and _, separated by dots", o.Prefix)
	case o.Edges.Empty():
		return errors.New("natsdir: Options.Edges is empty; hosts would dial no edge")
	case o.Creds != "":
		if _, err := os.Stat(o.Creds); err != nil { // its content is read at each connection, since it can be renewed
			return fmt.Errorf("natsdir: NATS credentials: %w", err)
		}
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, "ahp-relay")
	o.Timeout = cmp.Or(o.Timeout, 2*time.Second)
	o.Heartbeat = cmp.Or(o.Heartbeat, 2*time.Second)
	o.Spread = cmp.Or(o.Spread, 5*time.Second)
	o.Pending = cmp.Or(o.Pending, 4096)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// nats returns the options of the connection. Nothing is kept for a server that cannot be
// reached: an offer has to fail at once, and registrations are announced again.
func (d *Directory) natsOptions() []nats.Option {
	o := d.opts
	all := []nats.Option{
		nats.Name("ahp-canvas relay"), nats.NoEcho(), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectJitter(250*time.Millisecond, 250*time.Millisecond), nats.ReconnectBufSize(-1),
		nats.Timeout(5 * time.Second), nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), nats.FlusherTimeout(5 * time.Second),
		nats.IgnoreAuthErrorAbort(), // credentials can be renewed
		nats.ConnectHandler(func(*nats.Conn) { d.connected() }), nats.ReconnectHandler(func(*nats.Conn) { d.connected() }),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { d.disconnected() }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { d.notAccepted(err) }),
		nats.ErrorHandler(d.failed), nats.ClosedHandler(func(*nats.Conn) { close(d.closed) }),
	}
	if o.Creds != "" {
		all = append(all, nats.UserCredentials(o.Creds))
	}
	if o.CA != "" {
		all = append(all, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		all = append(all, nats.ClientCert(o.Cert, o.Key))
	}
	return append(all, o.Connect...)
}
