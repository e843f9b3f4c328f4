// Sizes prints the size of a program, which must have its symbol table, and the modules
// that take more than 1 MB of it.
package main

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "sizes: want the file of a program")
		os.Exit(2)
	}
	if err := report(os.Stdout, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
}

func report(w io.Writer, file string) error {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	modules := []string{info.Main.Path}
	for _, m := range info.Deps {
		modules = append(modules, m.Path)
	}
	symbols, err := exec.Command("go", "tool", "nm", "-size", file).Output()
	if err != nil {
		return fmt.Errorf("go tool nm: %w", err)
	}
	sizes := bySize(string(symbols), modules)
	fmt.Fprintln(w, "Code and data of the modules that take more than 1 MB, by the symbols of the program:")
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) }) {
		if sizes[name] >= 1e6 {
			fmt.Fprintf(w, "%6.1f MB  %s\n", float64(sizes[name])/1e6, name)
		}
	}
	return nil
}

// bySize adds up the symbols of each module.
func bySize(symbols string, modules []string) map[string]int {
	sizes := map[string]int{}
	for line := range strings.Lines(symbols) {
		f := strings.Fields(line)
		if len(f) < 4 || strings.ContainsAny(f[2], "bBUC") { // not in the file, or of another one
			continue
		}
		if n, err := strconv.Atoi(f[1]); err == nil {
			sizes[moduleOf(f[3], modules)] += n
		}
	}
	return sizes
}

// moduleOf returns the longest module whose path begins a symbol's name.
func moduleOf(symbol string, modules []string) string {
	best := "the Go standard library and runtime"
	length := 0
	for _, m := range modules {
		rest, ok := strings.CutPrefix(symbol, m)
		if ok && len(m) > length && strings.IndexAny(rest+".", "./") == 0 {
			best, length = m, len(m)
		}
	}
	return best
}
