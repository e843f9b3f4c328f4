// Command compare measures the host side by side with other software; see
// package peers.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/ahp-canvas/ahp-canvas/testcases/peers/figure"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/proc"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/rows"
	"github.com/ahp-canvas/ahp-canvas/testcases/peers/sides"
)

func main() {
	proc.Main(sides.All)
	short := flag.Bool("short", false, "fewer rounds: at most a minute, with less accurate results")
	only := flag.String("row", "", "run only these rows, separated by commas")
	list := flag.Bool("list", false, "print the names of the rows and exit")
	markdown := flag.Bool("markdown", false, "print one Markdown table, as in the README")
	dir := flag.String("dir", "", "folder for stores, on the disk to measure (default: the system's folder for temporary files)")
	flag.Parse()
	if *list {
		for _, r := range rows.All {
			fmt.Printf("%-10s %s\n", r.Name, r.What)
		}
		return
	}
	limit := 5 * time.Minute
	if *short {
		limit = time.Minute
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	if !run(ctx, options{*short, *markdown, *only, *dir}) {
		os.Exit(1)
	}
}

type options struct {
	short, markdown bool
	only, dir       string
}

// run runs the rows one after the other and reports whether all were measured.
func run(ctx context.Context, o options) bool {
	root, err := rows.ModuleRoot()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	chosen, err := choose(o.only)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return false
	}
	fmt.Println(machine())
	begun, all, good := time.Now(), []figure.Figure(nil), true
	for _, r := range chosen {
		figures, err := measure(ctx, r, root, o)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: not measured: %v\n", r.Name, err)
			good = false
		}
		all = append(all, figures...)
	}
	if o.markdown {
		fmt.Println()
		figure.Markdown(os.Stdout, all)
	}
	missed := 0
	for i := range all {
		if all[i].Verdict() == "MISSED" {
			missed++
		}
	}
	fmt.Printf("\n%d figures, %d below target, in %.0f s\n", len(all), missed, time.Since(begun).Seconds())
	return good
}

// measure runs one row and prints its figures, unless they are for a Markdown
// table.
func measure(ctx context.Context, r rows.Row, root string, o options) ([]figure.Figure, error) {
	env := &rows.Env{Ctx: ctx, Short: o.short, Dir: o.dir, Root: root, Log: func(f string, a ...any) { fmt.Fprintf(os.Stderr, f, a...) }}
	defer env.Close()
	from := time.Now()
	figures, err := r.Run(env)
	if !o.markdown {
		figure.Print(os.Stdout, fmt.Sprintf("%s (%s, %.1f s)", r.Name, r.What, time.Since(from).Seconds()), figures)
	}
	return figures, err
}

func choose(only string) ([]rows.Row, error) {
	if only == "" {
		return rows.All, nil
	}
	var chosen []rows.Row
	for name := range strings.SplitSeq(only, ",") {
		i := slices.IndexFunc(rows.All, func(r rows.Row) bool { return r.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("unknown row %q; use -list to print the rows", name)
		}
		chosen = append(chosen, rows.All[i])
	}
	return chosen, nil
}
