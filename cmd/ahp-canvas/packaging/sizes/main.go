// Sizes prints the modules that take more than 1 MB of a Linux program, which must have its
// symbol table.
package main

import (
	"cmp"
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
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
	f, err := elf.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return err
	}
	stored := func(s elf.Symbol) bool {
		return int(s.Section) < len(f.Sections) && f.Sections[s.Section].Type != elf.SHT_NOBITS
	}
	sizes := byModule(slices.DeleteFunc(symbols, func(s elf.Symbol) bool { return !stored(s) }), modules)
	fmt.Fprintln(w, "Modules with more than 1 MB of code and data. The symbols of a program leave out\nits tables, types and strings, which are about two thirds of it.")
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) }) {
		if sizes[name] >= 1e6 {
			fmt.Fprintf(w, "%6.1f MB  %s\n", float64(sizes[name])/1e6, name)
		}
	}
	return nil
}

// byModule adds up the sizes of the symbols of each module.
func byModule(symbols []elf.Symbol, modules []string) map[string]uint64 {
	sizes := map[string]uint64{}
	for _, s := range symbols {
		if !strings.HasPrefix(s.Name, "go:") && !strings.HasPrefix(s.Name, "type:") {
			sizes[moduleOf(s.Name, modules)] += s.Size
		}
	}
	return sizes
}

// moduleOf returns the longest module whose path begins a symbol's name.
func moduleOf(symbol string, modules []string) string {
	best, length := "Go standard library and runtime", 0
	for _, m := range modules {
		rest, ok := strings.CutPrefix(symbol, m)
		if ok && len(m) > length && strings.IndexAny(rest+".", "./") == 0 {
			best, length = m, len(m)
		}
	}
	return best
}
