package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/chromedp/chromedp"
)

// survey is browsers, a relay, and what was seen with them.
type survey struct {
	browser, far context.Context // far is that of the people who come through the relay
	ends         []func()
	relay        *relay
	out          io.Writer
	results      []*result
}

// newSurvey starts a relay and browsers. With apart, the relay and the people are in separate
// networks.
func newSurvey(ctx context.Context, binary string, out io.Writer, apart bool) (*survey, error) {
	s := &survey{out: out}
	if err := s.begin(ctx, binary, apart); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *survey) begin(ctx context.Context, binary string, apart bool) error {
	r, err := newRelay(ctx, binary, apart)
	if err != nil {
		return err
	}
	s.relay, s.ends = r, append(s.ends, r.stop)
	exe, err := chromium()
	if err != nil {
		return err
	}
	b, end, err := newBrowser(ctx, exe)
	if err != nil {
		return err
	}
	s.browser, s.far, s.ends = b, b, append(s.ends, end)
	n := r.networks
	if n == nil {
		return nil
	}
	if exe, err = browserIn(n.people, r.dir, exe); err != nil {
		return err
	}
	s.far, end, err = newBrowser(ctx, exe, chromedp.Flag("ignore-certificate-errors-spki-list", n.spki),
		chromedp.Flag("host-resolver-rules", "MAP "+relayContent+" "+relayAddress))
	if err == nil {
		s.ends = append(s.ends, end)
	}
	return err
}

func (s *survey) stop() {
	for _, end := range slices.Backward(s.ends) {
		end()
	}
}

// from is the browser of a way.
func (s *survey) from(w way) context.Context {
	if w == relayed {
		return s.far
	}
	return s.browser
}

// apps surveys the apps of a folder.
func (s *survey) apps(ctx context.Context, folder, cache, only string) error {
	all, err := apps(folder, chosen(only))
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("no app %q is in %s", only, folder)
	}
	for _, a := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r := &result{Name: a.Name}
		if err := a.fetch(ctx, cache); err != nil {
			r.Failed = "not fetched: " + err.Error()
		} else {
			r.visits(func(w way) (seen, error) { return s.visitApp(ctx, a, w) }, a.Known...)
		}
		s.add(r)
	}
	return nil
}

// extensions surveys the extensions of a folder.
func (s *survey) extensions(ctx context.Context, folder string) error {
	all, err := extensions(folder)
	if err != nil {
		return err
	}
	for _, dir := range all {
		r := &result{Name: filepath.Base(dir)}
		r.visits(func(w way) (seen, error) { return s.visitExtension(ctx, dir, w) })
		s.add(r)
	}
	return nil
}

// visits shows an app in each way.
func (r *result) visits(show func(way) (seen, error), all ...known) {
	r.Seen = map[way]seen{}
	for _, w := range append([]way{direct, again}, canvases...) {
		saw, err := show(w)
		if err != nil {
			saw.Failed = err.Error()
		}
		r.Seen[w] = saw
		if w == direct && saw.Failed != "" {
			break
		}
	}
	r.judge(all...)
}

// visitApp starts an app, with a host if it needs one, and visits it.
func (s *survey) visitApp(ctx context.Context, a *app, w way) (seen, error) {
	r, err := a.start(ctx)
	if err != nil {
		return seen{}, err
	}
	defer r.stop()
	address, canvas := r.url(a.Path), slices.Contains(canvases, w)
	if canvas {
		host, link, err := s.relay.host(ctx, w, "--canvas-url", a.Name+"="+address)
		if err != nil {
			return seen{}, err
		}
		defer host.kill()
		address = link
	}
	saw := do(s.from(w), a, address, canvas)
	saw.Sockets = r.sockets.Load()
	return saw, nil
}

// mostReasons is how many differences of a way are printed; --json has all.
const mostReasons = 6

// add notes a result and prints it.
func (s *survey) add(r *result) {
	s.results = append(s.results, r)
	fmt.Fprintf(s.out, "%s: %s\n", r.Name, r.summary())
	for _, w := range canvases {
		all := r.Verdicts[w].Why
		for _, why := range all[:min(len(all), mostReasons)] {
			fmt.Fprintf(s.out, "    %s: %s\n", w, why)
		}
		if n := len(all) - mostReasons; n > 0 {
			fmt.Fprintf(s.out, "    %s: and %d more\n", w, n)
		}
	}
}

func (r *result) summary() string {
	if r.Failed != "" {
		return "not compared, " + r.Failed
	}
	return strings.Join(r.columns("%s %s"), ", ")
}

// columns formats each way with its verdict.
func (r *result) columns(format string) (all []string) {
	for _, w := range canvases {
		all = append(all, fmt.Sprintf(format, w, r.Verdicts[w]))
	}
	return all
}

// known returns the reasons of known differences.
func (r *result) known() (all []string) {
	for _, w := range canvases {
		all = append(all, r.Verdicts[w].Known...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// works reports whether the app works in each way.
func (r *result) works() bool {
	return r.Failed == "" && !slices.ContainsFunc(canvases, func(w way) bool { return !r.Verdicts[w].Works })
}

// table prints the whole, and returns an error if something differs that is not known.
func (s *survey) table() error {
	t := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\nAPP\tCONTROLS\tSOCKETS\tPAGE\tLISTENER\tRELAY\tNOTE")
	var err error
	for _, r := range s.results {
		if !r.works() {
			err = errDiffers
		}
		if r.Failed != "" {
			fmt.Fprintf(t, "%s\t\t\t\t\t\t%.100s\n", r.Name, r.Failed)
			continue
		}
		saw := r.Seen[direct]
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", r.Name, len(saw.Controls), saw.Sockets, strings.Join(r.columns("%[2]s"), "\t"), strings.Join(r.known(), "; "))
	}
	if e := t.Flush(); e != nil {
		return e
	}
	return err
}
