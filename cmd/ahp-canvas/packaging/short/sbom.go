package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// sbom writes the list of components of a program as the configuration says, and checks it.
func sbom(c config, program, document string) error {
	s := c.Sboms[0]
	names := strings.NewReplacer("$document", document, "$artifact", program, "{{ .Version }}", version)
	args := make([]string, len(s.Args))
	for i, arg := range s.Args {
		args[i] = names.Replace(arg)
	}
	cmd := exec.Command(s.Cmd, args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "GOFLAGS=-mod=mod"), os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the list of components: %w", err)
	}
	return named(program, document)
}

// named returns an error unless a list of components has each module that the Go command has
// put into a program, with its version.
func named(program, document string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	var list struct {
		Components []struct{ Name, Version string }
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	has := map[string]string{}
	for _, component := range list.Components {
		has[component.Name] = component.Version
	}
	for _, module := range info.Deps {
		if has[module.Path] != module.Version {
			return fmt.Errorf("%s names version %q of %s, and the program has %s", document, has[module.Path], module.Path, module.Version)
		}
	}
	fmt.Printf("%s: %d modules, all named\n", document, len(info.Deps))
	return nil
}
