package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// writeMan writes a manual page for each command.
func writeMan(root *cobra.Command, folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for cmd := range commands(root) {
		if err := os.WriteFile(filepath.Join(folder, manName(cmd)+".1"), []byte(manPage(cmd)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manName returns the name of a command's page: ahp-canvas-state-check.
func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage returns a manual page in the macros of man(7). It has no date, so that two builds
// of one version are equal.
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" ahp-canvas ahp-canvas\n", strings.ToUpper(roff(manName(cmd))))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	if cmd.Long != "" {
		fmt.Fprintf(&b, ".SH DESCRIPTION\n%s", verbatim(cmd.Long))
	}
	if all := flags(cmd); len(all) > 0 {
		b.WriteString(".SH OPTIONS\n")
		for _, f := range all {
			typed, usage := flagText(f)
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(typed), roff(usage))
		}
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n%s", verbatim(cmd.Example))
	}
	if related := relatedPages(cmd); len(related) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(related, "\n"))
	}
	return b.String()
}

func relatedPages(cmd *cobra.Command) (all []string) {
	if cmd.HasParent() {
		all = append(all, ".BR "+roff(manName(cmd.Parent()))+" (1)")
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" {
			all = append(all, ".BR "+roff(manName(sub))+" (1)")
		}
	}
	for i := range max(len(all)-1, 0) {
		all[i] += " ,"
	}
	return all
}

// verbatim keeps the lines of a help text.
func verbatim(text string) string { return ".nf\n" + roff(text) + "\n.fi\n" }

// roff escapes a text: a line that begins with a point or a quote would be a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return ascii(strings.Join(lines, "\n"))
}

// ascii writes other characters by their numbers: not every formatter reads UTF-8.
func ascii(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\[u%04X]`, r)
	}
	return b.String()
}
