package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas/client"
	"github.com/ahp-canvas/ahp-canvas/testcases/built"
)

// errVerdict is returned if something grew, failed or became slow.
var errVerdict = errors.New("the host did not pass")

func main() {
	if code, ok := child(); ok {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := command(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// workerEnv makes this program the provider that is killed: it has the host's address and
// token.
const workerEnv = "AHP_SOAK_WORKER"

// child runs the provider. ok is false for the process that measures.
func child() (code int, ok bool) {
	text := os.Getenv(workerEnv)
	if text == "" {
		return 0, false
	}
	if err := provide(text); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 1, true
	}
	return 0, true
}

// provide declares the canvas "work" and prints a line. It ends with the connection.
func provide(at string) error {
	var to [2]string
	if err := json.Unmarshal([]byte(at), &to); err != nil {
		return err
	}
	ctx := context.Background()
	c, err := client.Dial(ctx, to[0], client.Options{Token: to[1], ClientID: "worker"})
	if err != nil {
		return err
	}
	defer c.Close()
	work := worker()
	if err := c.Provide(ctx, defaultSession, "Worker", work, work.Declarations()...); err != nil {
		return err
	}
	fmt.Println("ready")
	<-c.Disconnected()
	return nil
}

// long and short are the plans of the two forms.
func long(lasts time.Duration) plan {
	return plan{
		lasts: lasts, sample: lasts / 240, call: 100 * time.Millisecond, change: 50 * time.Millisecond, stay: 12 * time.Second, pause: 3 * time.Second,
		visitors: 10, crash: min(time.Minute, lasts/10), restart: min(5*time.Minute, lasts/6), steady: true,
	}
}

func short() plan {
	return plan{
		lasts: 15 * time.Second, sample: 500 * time.Millisecond, call: 50 * time.Millisecond, change: 50 * time.Millisecond, stay: time.Second, pause: time.Second,
		visitors: 6, crash: 4 * time.Second, restart: 6 * time.Second,
	}
}

// command runs the load that the arguments ask for.
func command(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	lasts := f.Duration("for", 2*time.Hour, "how `long` the load lasts")
	binary := f.String("binary", "", "ahp-canvas `program` to run; without it, the program is built from this module")
	times := f.Int("faster", 1, "do everything this many `times` as often")
	measurements := f.String("table", "", "`file` for all measurements, as CSV")
	small := f.Bool("short", false, "the form of the tests")
	if err := f.Parse(args); err != nil {
		return err
	}
	p := long(*lasts)
	if *small {
		p = short()
	}
	if *times < 1 || *times > 100 {
		return fmt.Errorf("--faster %d: at least 1 and at most 100", *times)
	}
	p = p.faster(*times)
	p.table = *measurements
	if *binary == "" {
		path, remove, err := built.Program(ctx)
		if err != nil {
			return err
		}
		defer remove()
		*binary = path
	}
	wrong, err := soakPrograms(ctx, *binary, p, out)
	for _, text := range wrong {
		fmt.Fprintln(out, "FAILED", text)
	}
	if err == nil && len(wrong) > 0 {
		err = errVerdict
	}
	return err
}
