package sides

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/host"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
)

// perSession is how many canvases durable opens in a session before it uses the
// next one. The limit of a session is 256.
const perSession = 240

// durable does one round of N operations. For Name "sync" it appends 300 bytes
// to a file beside the store and syncs it, N times. For "open" it opens N
// canvases with Size callers, in the default session and then in those that
// "sessions" created. Took is the time of all; closing is not measured.
func (o *ours) durable(req proc.Request) (proc.Response, error) {
	if req.Name == "sync" {
		return o.sync(req.N)
	}
	var all []canvas.OpenArgs
	for i := range req.N {
		o.opens++
		in := host.DefaultSession
		if i >= perSession {
			in = SessionURI(i/perSession - 1)
		}
		all = append(all, canvas.OpenArgs{Session: in, CanvasID: "pages", InstanceID: fmt.Sprint("i", o.opens)})
	}
	begun := time.Now()
	err := workers(req.Size, all, func(a canvas.OpenArgs) error {
		_, err := o.host.Canvases().Open(context.Background(), a)
		return err
	})
	took := time.Since(begun)
	err = errors.Join(err, workers(64, all, func(a canvas.OpenArgs) error {
		return o.host.Canvases().Close(context.Background(), a.Session, a.InstanceID)
	}))
	return proc.Response{Took: took}, err
}

// workers calls do for all, in order, from n goroutines.
func workers(n int, all []canvas.OpenArgs, do func(canvas.OpenArgs) error) error {
	queue := make(chan canvas.OpenArgs, len(all))
	for _, a := range all {
		queue <- a
	}
	close(queue)
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			for a := range queue {
				errs[i] = errors.Join(errs[i], do(a))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (o *ours) sync(n int) (proc.Response, error) {
	f, err := os.Create(filepath.Join(o.dir, "raw"))
	if err != nil {
		return proc.Response{}, err
	}
	defer f.Close()
	record := make([]byte, 300)
	begun := time.Now()
	for range n {
		if _, err := f.Write(record); err != nil {
			return proc.Response{}, err
		}
		if err := f.Sync(); err != nil {
			return proc.Response{}, err
		}
	}
	return proc.Response{Took: time.Since(begun)}, nil
}
