package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// tarball returns a compressed archive. dirs says whether it has the folders of its files.
func tarball(files []packed, dirs bool) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	made := map[string]bool{".": true, "/": true}
	for _, f := range files {
		if dirs {
			if err := folders(w, path.Dir(f.name), made); err != nil {
				return nil, err
			}
		}
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.data)), Uname: "root", Gname: "root"}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// folders adds a folder and those around it, once.
func folders(w *tar.Writer, name string, made map[string]bool) error {
	if made[name] {
		return nil
	}
	made[name] = true
	if err := folders(w, path.Dir(name), made); err != nil {
		return err
	}
	return w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "./" + name + "/", Mode: 0o755, Uname: "root", Gname: "root"})
}

// archive writes the archive for Linux.
func archive(c config, program packed, name string) error {
	files, err := expand(c.Archives[0].Files)
	if err != nil {
		return err
	}
	data, err := tarball(append([]packed{program}, files...), false)
	if err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o644)
}

// debian writes the Debian package: an ar archive of its format, its control files and its
// files.
func debian(c config, program packed, name string) error {
	p := c.Packages[0]
	files, err := expand(p.Contents)
	if err != nil {
		return err
	}
	program.name = path.Join(p.Bindir, program.name)
	files = append(files, program)
	var sums strings.Builder
	for i := range files {
		files[i].name = "." + files[i].name
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(files[i].data), strings.TrimPrefix(files[i].name, "./"))
	}
	control, err := controlFiles(c)
	if err != nil {
		return err
	}
	control = append(control, packed{"./md5sums", []byte(sums.String()), 0o644})
	meta, err := tarball(control, false)
	if err != nil {
		return err
	}
	data, err := tarball(files, true)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, member := range []packed{{"debian-binary", []byte("2.0\n"), 0}, {"control.tar.gz", meta, 0}, {"data.tar.gz", data, 0}} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", member.name, 0, 0, 0, "100644", len(member.data))
		b.Write(member.data)
		if len(member.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

// controlFiles are what dpkg reads: the description, the scripts and which files a user may
// change.
func controlFiles(c config) (files []packed, err error) {
	p := c.Packages[0]
	description := strings.ReplaceAll(strings.TrimSpace(p.Description), "\n", "\n ")
	text := fmt.Sprintf("Package: %s\nVersion: %s\nSection: %s\nPriority: optional\nArchitecture: %s\nMaintainer: %s\nHomepage: %s\nDescription: %s\n",
		p.Name, strings.Replace(version, "-", "~", 1), p.Section, runtime.GOARCH, p.Maintainer, p.Homepage, description)
	files = append(files, packed{"./control", []byte(text), 0o644})
	var changed strings.Builder
	for _, f := range p.Contents {
		if strings.HasPrefix(f.Type, "config") {
			changed.WriteString(f.Dst + "\n")
		}
	}
	files = append(files, packed{"./conffiles", []byte(changed.String()), 0o644})
	names := map[string]string{"postinstall": "postinst", "preremove": "prerm", "postremove": "postrm", "preinstall": "preinst"}
	for _, script := range slices.Sorted(maps.Keys(p.Scripts)) {
		data, err := os.ReadFile(p.Scripts[script])
		if err != nil {
			return nil, err
		}
		files = append(files, packed{"./" + names[script], data, 0o755})
	}
	return files, nil
}
