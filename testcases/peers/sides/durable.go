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

// durable does one round of N: for Name "sync" it appends 300 bytes to a file
// beside the store and syncs it, N times; for "open" it opens N canvases with
// Size callers at a time. Closing them is not measured. Took is the time of all.
func (o *ours) durable(ask proc.Ask) (proc.Answer, error) {
	if ask.Name == "sync" {
		return o.sync(ask.N)
	}
	names := make(chan string, ask.N)
	var args []canvas.OpenArgs
	for range ask.N {
		o.opens++
		names <- fmt.Sprint("i", o.opens)
		args = append(args, canvas.OpenArgs{Session: host.DefaultSession, InstanceID: fmt.Sprint("i", o.opens)})
	}
	close(names)
	begun := time.Now()
	err := workers(ask.Size, names, func(name string) error {
		_, err := o.host.Canvases().Open(context.Background(), canvas.OpenArgs{Session: host.DefaultSession, CanvasID: "pages", InstanceID: name})
		return err
	})
	took := time.Since(begun)
	again := make(chan string, len(args))
	for _, a := range args {
		again <- a.InstanceID
	}
	close(again)
	err = errors.Join(err, workers(64, again, func(name string) error {
		return o.host.Canvases().Close(context.Background(), host.DefaultSession, name)
	}))
	return proc.Answer{Took: took}, err
}

func workers(n int, names <-chan string, do func(string) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() {
			for name := range names {
				errs[i] = errors.Join(errs[i], do(name))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (o *ours) sync(n int) (proc.Answer, error) {
	f, err := os.Create(filepath.Join(o.dir, "raw"))
	if err != nil {
		return proc.Answer{}, err
	}
	defer f.Close()
	record := make([]byte, 300)
	begun := time.Now()
	for range n {
		if _, err := f.Write(record); err != nil {
			return proc.Answer{}, err
		}
		if err := f.Sync(); err != nil {
			return proc.Answer{}, err
		}
	}
	return proc.Answer{Took: time.Since(begun)}, nil
}
