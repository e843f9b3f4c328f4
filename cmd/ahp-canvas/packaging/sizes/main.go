// Sizes prints what takes more than 1 MB of a Linux program, which must have its symbol
// table, and fails if a release of it would have more than 50 MB.
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

// most is the largest program that a release may have, without its symbol table.
const most = 50e6

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
	p, err := read(file)
	if err != nil {
		return err
	}
	sizes := p.sizes(modules)
	fmt.Fprintf(w, "A release of this program has %.1f MB. What takes more than 1 MB of it:\n", p.total/1e6)
	for _, name := range slices.SortedFunc(maps.Keys(sizes), func(a, b string) int { return cmp.Compare(sizes[b], sizes[a]) }) {
		if sizes[name] >= 1e6 {
			fmt.Fprintf(w, "%6.1f MB  %s\n", sizes[name]/1e6, name)
		}
	}
	fmt.Fprintln(w, "A module has its code and data, and of the tables of functions a part as large as that\nof its code.")
	if p.total > most {
		return fmt.Errorf("%s has %.1f MB, at most %.0f MB are allowed", file, p.total/1e6, most/1e6)
	}
	return nil
}

// program is what is measured of a program, in bytes.
type program struct {
	code, data []elf.Symbol
	tables     float64 // where each function begins, and its lines
	total      float64 // without the symbol table
}

func read(file string) (*program, error) {
	f, err := elf.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	p := &program{}
	for _, s := range f.Sections {
		if stored(s) {
			p.total += float64(s.Size)
		}
		if s.Name == ".gopclntab" {
			p.tables = float64(s.Size)
		}
	}
	for _, s := range symbols {
		if int(s.Section) >= len(f.Sections) || !stored(f.Sections[s.Section]) {
			continue
		}
		if f.Sections[s.Section].Flags&elf.SHF_EXECINSTR != 0 {
			p.code = append(p.code, s)
		} else {
			p.data = append(p.data, s)
		}
	}
	return p, nil
}

// stored reports whether a section is part of a program in memory and of its file.
func stored(s *elf.Section) bool {
	return s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS
}

// rest is what no symbol names.
const rest = "types, strings and files that are built in, of all modules"

// sizes divides a program among its modules.
func (p *program) sizes(modules []string) map[string]float64 {
	code, data := byModule(p.code, modules), byModule(p.data, modules)
	var all float64
	for _, n := range code {
		all += n
	}
	sizes := map[string]float64{rest: p.total}
	for name, n := range code {
		sizes[name] = n + p.tables*n/all
	}
	for name, n := range data {
		sizes[name] += n
	}
	for name, n := range sizes {
		if name != rest {
			sizes[rest] -= n
		}
	}
	return sizes
}

// byModule adds up the sizes of the symbols of each module.
func byModule(symbols []elf.Symbol, modules []string) map[string]float64 {
	sizes := map[string]float64{}
	for _, s := range symbols {
		if !strings.HasPrefix(s.Name, "go:") && !strings.HasPrefix(s.Name, "type:") && !strings.HasPrefix(s.Name, "runtime.pclntab") {
			sizes[moduleOf(s.Name, modules)] += float64(s.Size)
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
