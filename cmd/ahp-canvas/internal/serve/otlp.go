package serve

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/trace"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
)

// otlp is where traces go.
type otlp struct{ url string }

func (o *otlp) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.url, "otlp", "", "`URL` of an OpenTelemetry collector that receives traces of opens, invokes, closes and reads, as in http://localhost:4318 (default: none)")
}

// check finds a wrong URL before the host starts.
func (o *otlp) check() error {
	t, err := o.tracer(nil)
	closeTracer(t)
	if err != nil {
		return term.Usagef("--otlp: %v", err)
	}
	return nil
}

// tracer returns nil without a URL.
func (o *otlp) tracer(s *starting) (*trace.Tracer, error) {
	if o.url == "" {
		return nil, nil
	}
	opts := trace.Options{URL: o.url, Service: "ahp-canvas"}
	if s != nil {
		opts.Version, opts.Logger = s.version, s.logger
	}
	return trace.New(opts)
}

// closeTracer exports what is left, but does not let a collector delay the end for long.
func closeTracer(t *trace.Tracer) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	t.Close(ctx)
}
