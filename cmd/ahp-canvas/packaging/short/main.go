// Short makes a release for this machine alone, in seconds: the archive, the Debian package,
// the list of components and their checksums, from the lists of files in goreleaser.yaml. try.sh tries it. The
// release itself is made by goreleaser.
//
//	AHP_BUILD_FLAGS=-buildvcs=false sh cmd/ahp-canvas/packaging/prepare.sh
//	go run ./cmd/ahp-canvas/packaging/short cmd/ahp-canvas/packaging/dist/short
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"go.yaml.in/yaml/v4"
)

// version is that of the short release. By default it is a snapshot of the sources; a test of
// upgrades gives another one.
var version = "0.0.1-snapshot"

// config is what this program reads of goreleaser.yaml.
type config struct {
	Builds   []struct{ Main, Binary string }
	Archives []struct{ Files []file }
	Sboms    []struct {
		Cmd  string
		Args []string
	}
	Packages []struct {
		Name        string `yaml:"package_name"`
		Maintainer  string
		Homepage    string
		Section     string
		Description string
		Bindir      string
		Contents    []file
		Scripts     map[string]string
	} `yaml:"nfpms"`
}

// file is a file of the archive or the package. Src can be a pattern.
type file struct {
	Src, Dst    string
	Type        string
	StripParent bool `yaml:"strip_parent"`
}

// packed is a file with the name that it gets.
type packed struct {
	name string
	data []byte
	mode int64
}

func main() {
	flag.StringVar(&version, "version", version, "the release's `version`")
	flag.Parse()
	if flag.NArg() != 1 || runtime.GOOS != "linux" {
		fmt.Fprintln(os.Stderr, "usage, on Linux and in the root of the sources: short [-version VERSION] FOLDER")
		os.Exit(2)
	}
	if err := release(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "short:", err)
		os.Exit(1)
	}
}

// release writes the release into a new folder.
func release(out string) error {
	text, err := os.ReadFile("cmd/ahp-canvas/packaging/goreleaser.yaml")
	if err != nil {
		return err
	}
	var c config
	if err := yaml.Unmarshal(text, &c); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	base := fmt.Sprintf("%s_%s_linux_%s", c.Packages[0].Name, version, runtime.GOARCH)
	program, err := build(c, out, filepath.Join(out, base+".cdx.json"))
	if err != nil {
		return err
	}
	if err := archive(c, program, filepath.Join(out, base+".tar.gz")); err != nil {
		return err
	}
	if err := debian(c, program, filepath.Join(out, base+".deb")); err != nil {
		return err
	}
	return checksums(out)
}

// build builds the program stripped, as a release has it, and with the packages that tests
// have compiled. It writes the list of its components into a document.
func build(c config, out, document string) (packed, error) {
	path := filepath.Join(out, c.Builds[0].Binary)
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version="+version, "-o", path, c.Builds[0].Main)
	cmd.Env, cmd.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := cmd.Run(); err != nil {
		return packed{}, err
	}
	if err := sbom(c, path, document); err != nil {
		return packed{}, err
	}
	data, err := os.ReadFile(path)
	return packed{c.Builds[0].Binary, data, 0o755}, errors.Join(err, os.Remove(path))
}

// expand reads the files of a list.
func expand(list []file) (all []packed, err error) {
	for _, f := range list {
		names, err := filepath.Glob(f.Src)
		if err == nil && len(names) == 0 {
			err = fmt.Errorf("%s does not exist", f.Src)
		}
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			all = append(all, packed{target(f, name), data, 0o644})
		}
	}
	return all, nil
}

// target returns the name of a file in the archive or the package.
func target(f file, name string) string {
	switch {
	case f.Dst == "" && f.StripParent:
		return filepath.Base(name)
	case f.Dst == "":
		return name
	case f.StripParent, strings.HasSuffix(f.Dst, "/"):
		return filepath.Join(f.Dst, filepath.Base(name))
	}
	return f.Dst
}

// checksums writes checksums.txt for the files of a folder.
func checksums(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, f := range list {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return os.WriteFile(filepath.Join(dir, "checksums.txt"), []byte(b.String()), 0o644)
}
