package conform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/ahp/ws"
	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/reach"
	"github.com/ahp-canvas/ahp-canvas/cmd/ahp-canvas/internal/term"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// recordOptions are the flags of record, and its argument.
type recordOptions struct {
	host, listen, title string
	to                  reach.Target // --host and --token-file
	file                string
}

// RecordCommand returns record.
func RecordCommand(env *term.Env) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record [--to WS-URL] FILE",
		Short: "Record the messages between clients and a host",
		Long: `Record the messages between AHP clients and a host as a transcript. The first
line of output is an address for clients, whose messages are forwarded to the
host and back. Ctrl-C ends the recording and writes the file. Without --to, the
host is the running one, or that of --host. To play the recording:

  ahp-canvas conform --case FILE

Messages of clients are recorded unchanged, including their ids. In messages of
the host, values that change from run to run (sequence numbers, times, canvas
channels, error texts) become names or "$*". Tokens are never recorded, neither
that of the connection nor those in authenticate, and no labels and secrets of
canvases' addresses. Everything else is: read the file before you give it to
others.

Clients present the host's token to this address, as they do to the host. A
client without a token gets that of --token-file. Any program on this machine
can connect; a web page needs a separate token.`,
		Example: `  ahp-canvas record exchange.txt
  ahp-canvas record --to wss://host.example/ahp exchange.txt`,
		Args: term.Args("FILE"),
		RunE: term.Run(func(ctx context.Context, args []string) error {
			o.file = args[0]
			return record(ctx, env, o)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&o.host, "to", "", "WebSocket `URL` of the host (default: the running host)")
	o.to.HostFlag(cmd)
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "`address` to listen on for clients")
	f.StringVar(&o.title, "title", "", "`title` of the transcript")
	f.StringVar(&o.to.TokenFile, "token-file", "", "`file` with the token for clients that present none (default: $AHP_CANVAS_TOKEN)")
	env.JSONFlag(cmd)
	term.Must(cmd.MarkFlagFilename("token-file"))
	return cmd
}

// RecordLine is the first and the last line of record --json.
type RecordLine struct {
	// Listen is the WebSocket URL for clients, in the first line.
	Listen string `json:"listen,omitzero"`
	// File is the transcript and Frames its number of messages, in the last line.
	File   string `json:"file,omitzero"`
	Frames int    `json:"frames,omitzero"`
}

func record(ctx context.Context, env *term.Env, o recordOptions) error {
	at, err := o.target(env)
	if err != nil {
		return err
	}
	if err := checkTarget(ctx, env, at); err != nil {
		return err
	}
	out, err := createFile(o.file)
	if err != nil {
		return err
	}
	defer out.Close()
	ln, err := net.Listen("tcp", o.listen)
	if err != nil {
		_ = os.Remove(o.file)
		return fmt.Errorf("--listen: %w", err)
	}
	r := &conform.Recorder{Title: o.title}
	if err := printListen(env, ln, at.path); err != nil {
		return err
	}
	serveProxy(ctx, ln, &conform.Proxy{To: at.url, Token: at.token, Watcher: r}, r)
	if _, err := r.WriteTo(out); err != nil {
		return fmt.Errorf("%s: %w", term.Printable(o.file), err)
	}
	if err := out.Close(); err != nil {
		return err
	}
	if env.JSON {
		return env.PrintJSON(RecordLine{File: o.file, Frames: r.Frames()})
	}
	_, err = fmt.Fprintf(env.Out, "Wrote %s to %s.\n", term.Count(r.Frames(), "message", "messages"), term.Printable(o.file))
	return err
}

// recordTarget is the host whose clients are recorded.
type recordTarget struct {
	url, path string
	token     string // for clients that present none; "" if the user gave none
	own       string // with which the command checks the host
}

// target finds the host. The token of a running host is not for clients of the recording:
// programs of other users can connect to it.
func (o recordOptions) target(env *term.Env) (at recordTarget, err error) {
	if o.host != "" && !isWebSocket(o.host) {
		return at, term.Usagef("--to %q: want the WebSocket URL of the host, as in ws://localhost:8080/ahp", term.Printable(o.host))
	}
	if o.host != "" && o.to.Host != "" {
		return at, term.Usagef("--to and --host are two ways to name the host; give one of them")
	}
	found, err := options{url: o.host, to: o.to}.tested(env)
	if err != nil {
		return at, err
	}
	if at.token, err = o.to.Token(env); err != nil {
		return at, err
	}
	at.url, at.own = found.url, found.client
	to, err := url.Parse(at.url)
	if err == nil {
		at.path = to.EscapedPath()
	}
	return at, err
}

// checkTarget connects to the host once, so that a wrong address is known before clients
// come. A host that only refuses to be entered without a token is right: clients bring one.
func checkTarget(ctx context.Context, env *term.Env, at recordTarget) error {
	defer env.Progress("Connecting to the host")()
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := ws.Dial(ctx, at.url, ws.DialOptions{Token: at.own})
	if err == nil {
		c.Close(ws.CodeNormal, "")
		c.Wait()
		return nil
	}
	e, refused := errors.AsType[*ws.HandshakeError](err)
	switch {
	case refused && at.own == "" && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden):
		return nil
	case refused:
		return term.Failf(codeNotRecordable, "nothing can be recorded: %s", handshakeText(e))
	}
	return term.Failf(codeNotRecordable, "no host answers at %s: %v; check --to, or start one with: ahp-canvas serve", term.Printable(at.url), err)
}

// codeNotRecordable is the code for an address at which there is no AHP host.
const codeNotRecordable = "not_recordable"

// createFile creates a file that does not exist yet.
func createFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s already exists; choose another name, or remove it", term.Printable(name))
	}
	return f, err
}

// printListen prints the address for clients.
func printListen(env *term.Env, ln net.Listener, path string) error {
	address := "ws://" + ln.Addr().String() + path
	if env.JSON {
		return env.PrintJSON(RecordLine{Listen: address})
	}
	_, err := fmt.Fprintf(env.Out, "Clients connect to %s. Press Ctrl-C to end the recording.\n", term.Printable(address))
	return err
}

// serveProxy forwards connections until ctx is canceled, and waits for them to end.
func serveProxy(ctx context.Context, ln net.Listener, p *conform.Proxy, r *conform.Recorder) {
	server := &http.Server{Handler: web.BodyTimeout(p), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	new(web.ConnLimiter).Watch(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // until Close
	}()
	<-ctx.Done()
	r.Stop()
	_ = server.Close()
	p.Close()
	<-done
}
