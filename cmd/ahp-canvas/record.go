package main

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

	"github.com/ahp-canvas/ahp-canvas/canvas/web"
	"github.com/ahp-canvas/ahp-canvas/testcases/conform"
)

// recordFlags are the flags of record.
type recordFlags struct {
	to, listen, title string
}

func (a *app) recordCommand() *cobra.Command {
	var f recordFlags
	cmd := &cobra.Command{
		Use:   "record --to WS-URL FILE",
		Short: "Write down what clients and a host say to each other",
		Long: `Listen for AHP clients, pass what they say on to a host and back, and write the
exchange as a transcript, when Ctrl-C ends it. The address to give to clients is
the first line of output. What was recorded can be played again:

  ahp-canvas conform WS-URL --case FILE

Messages of clients stand in the file to the letter, with their ids. In those of
the host, what is another one each time (sequence numbers, times, canvas
channels, texts of errors) is written as a name or as "$*". Tokens are never
written: not the one of the connection, and not what authenticate carries.
Everything else is: look through the file before you give it away.

Clients present the host's token to this address as they would to the host; one
that presents none gets the token of --token-file. Any program on this machine
can connect; a web page needs a token of its own.`,
		Example: `  ahp-canvas record --to ws://localhost:8080/ahp exchange.txt`,
		Args:    takes("FILE"),
		RunE: does(func(ctx context.Context, args []string) error {
			return a.record(ctx, f, args[0])
		}),
	}
	cmd.Flags().StringVar(&f.to, "to", "", "WebSocket URL of the host")
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "address to listen on for clients")
	cmd.Flags().StringVar(&f.title, "title", "", "title of the transcript")
	cmd.Flags().StringVar(&a.to.tokenFile, "token-file", "", "file that holds the token for clients that present none (default: $AHP_CANVAS_TOKEN)")
	a.jsonFlag(cmd)
	must(cmd.MarkFlagFilename("token-file"))
	return cmd
}

// recordLine is the first and the last line with --json.
type recordLine struct {
	Listen string `json:"listen,omitzero"` // WebSocket URL for clients
	File   string `json:"file,omitzero"`
	Frames int    `json:"frames,omitzero"`
}

func (a *app) record(ctx context.Context, f recordFlags, name string) error {
	to, err := url.Parse(f.to)
	if err != nil || to.Host == "" || (to.Scheme != "ws" && to.Scheme != "wss") {
		return &usage{text: "--to: give the WebSocket URL of the host, as in ws://localhost:8080/ahp"}
	}
	token, err := a.token()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%s is there already: give a name that is free, or remove it", printable(name))
	} else if err != nil {
		return err
	}
	defer out.Close()
	ln, err := net.Listen("tcp", f.listen)
	if err != nil {
		_ = os.Remove(name)
		return fmt.Errorf("--listen: %w", err)
	}
	r := &conform.Recorder{Title: f.title}
	if err := a.sayRecording(ln, to.EscapedPath()); err != nil {
		return err
	}
	serveProxy(ctx, ln, &conform.Proxy{To: f.to, Token: token, Watcher: r}, r)
	if _, err := r.WriteTo(out); err != nil {
		return fmt.Errorf("%s: %w", printable(name), err)
	}
	if err := out.Close(); err != nil {
		return err
	}
	if a.json {
		return printLine(a.out, recordLine{File: name, Frames: r.Frames()})
	}
	_, err = fmt.Fprintf(a.out, "Wrote %s to %s.\n", counted(r.Frames(), "message", "messages"), printable(name))
	return err
}

// sayRecording prints the address for clients.
func (a *app) sayRecording(ln net.Listener, path string) error {
	address := "ws://" + ln.Addr().String() + path
	if a.json {
		return printLine(a.out, recordLine{Listen: address})
	}
	_, err := fmt.Fprintf(a.out, "Clients connect to %s. Ctrl-C ends the recording.\n", printable(address))
	return err
}

// serveProxy passes connections on until ctx ends, and waits for them.
func serveProxy(ctx context.Context, ln net.Listener, p *conform.Proxy, r *conform.Recorder) {
	server := &http.Server{Handler: web.BodyTimeout(p), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	new(web.ConnLimiter).Watch(server)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln) // its error is that it was closed
	}()
	<-ctx.Done()
	r.Stop()
	_ = server.Close()
	p.Close()
	<-done
}
