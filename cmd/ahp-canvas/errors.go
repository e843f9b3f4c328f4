package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ahp-canvas/ahp-canvas/canvas"
	"github.com/ahp-canvas/ahp-canvas/canvas/mcp"
)

// The exit statuses (canvas.md section 9).
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// failure is an operation that failed, as opposed to wrong usage.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage is wrong usage: of a command where one is known.
type usage struct {
	text    string
	command *cobra.Command
}

func (u *usage) Error() string { return u.text }

// The codes of failures that are neither a canvas's nor the door's.
const (
	codeNoHost          = "host_not_found"
	codeNotStarted      = "host_not_started"
	codeRelayNotStarted = "relay_not_started"
	codeRelayRefused    = "relay_refused"
	codeOffline         = "host_offline"
	codeLinkRefused     = "link_refused"
	codeFailed          = "failed" // a file that is absent, and whatever else the words alone say
)

// report prints an error and returns the exit status that says the same. The
// words may be a provider's, or those of what only says that it is a host.
func (a *app) report(err error) int {
	if err == nil {
		return exitDone
	}
	if u, ok := errors.AsType[*usage](err); ok {
		a.reportUsage(u)
		return exitUsage
	}
	if _, ok := errors.AsType[*failure](err); !ok { // cobra's own, as an unknown command
		a.reportUsage(&usage{text: err.Error()})
		return exitUsage
	}
	e, coded := errors.AsType[*canvas.Error](err)
	if !coded {
		e = &canvas.Error{Code: codeFailed, Message: err.Error()}
	}
	switch {
	case a.json:
		words := strings.ToValidUTF8(e.Message, "\uFFFD") // a file's name may be any bytes
		_ = printLine(a.errs, errorLine{e.Code, words, e.Path, e.Rule, e.Candidates})
		return exitFailed
	case !coded:
		fmt.Fprintf(a.errs, "ahp-canvas: %s\n", printableLines(e.Message))
		return exitFailed
	}
	fmt.Fprintf(a.errs, "ahp-canvas: %s: %s\n", printable(e.Code), printableLines(e.Message))
	if hint := hintFor(e); hint != "" {
		fmt.Fprintln(a.errs, "  "+printable(hint))
	}
	return exitFailed
}

// What cobra says of required flags, of flags that belong together, and of a
// flag's value.
var (
	required = regexp.MustCompile(`^required flag\(s\) "(.+)" not set$`)
	together = regexp.MustCompile(`the group \[(.+)\] .* missing \[(.+)\]$`)
	invalid  = regexp.MustCompile(`^invalid argument "(.*)" for ".*--(.+)" flag: `)
)

// lacking says which flags a command line lacks, as takes does of arguments;
// other errors stay as they are.
func lacking(cmd *cobra.Command, err error) error {
	dashed := func(names []string) string { return "--" + strings.Join(names, " and --") }
	if err == nil {
		return nil
	}
	if m := required.FindStringSubmatch(err.Error()); m != nil {
		return &usage{cmd.Name() + " needs " + dashed(strings.Split(m[1], `", "`)), cmd}
	}
	m := together.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	missing := strings.Fields(m[2])
	given := slices.DeleteFunc(strings.Fields(m[1]), func(name string) bool { return slices.Contains(missing, name) })
	return &usage{cmd.Name() + " needs " + dashed(missing) + " with " + dashed(given), cmd}
}

// misread says which value a flag does not take, without Go's names for it.
func misread(cmd *cobra.Command, err error) error {
	text := err.Error()
	if m := invalid.FindStringSubmatch(text); m != nil {
		if want := kinds[cmd.Flag(m[2]).Value.Type()]; want != "" {
			text = fmt.Sprintf("--%s %s: want %s", m[2], m[1], want)
		}
	}
	return &usage{text, cmd}
}

// kinds are what flags take, by the type of their value; a level's has no name.
var kinds = map[string]string{
	"int": "a whole number", "int64": "a whole number", "bool": "true or false", "duration": "a time, as in 30s or 5m", "": "debug, info, warn or error",
}

func (a *app) reportUsage(u *usage) {
	fmt.Fprintf(a.errs, "ahp-canvas: %s\n", printableLines(u.text))
	if u.command == nil {
		fmt.Fprintln(a.errs, "  ahp-canvas --help shows the commands.")
		return
	}
	fmt.Fprintf(a.errs, "  usage: %s\n  %s --help says more.\n", u.command.UseLine(), u.command.CommandPath())
}

// errorLine is a failure with --json, on standard error.
type errorLine struct {
	Code       string   `json:"code"`
	Message    string   `json:"message"`
	Path       string   `json:"path,omitzero"`
	Rule       string   `json:"rule,omitzero"`
	Candidates []string `json:"candidates,omitzero"`
}

// hints say what a person can do next, by code.
var hints = map[string]string{
	canvas.CodeNotFound:            "ahp-canvas ls shows which canvases there are.",
	canvas.CodeInstanceNotFound:    "ahp-canvas ls shows what is open.",
	canvas.CodeSessionNotFound:     "Leave --session out for the default session.",
	canvas.CodeAmbiguous:           "Say which with --extension, one of: {candidates}.",
	canvas.CodeAlreadyOpen:         "Choose another --instance, or close this one first.",
	canvas.CodeInputInvalid:        "ahp-canvas ls --json shows the schemas of inputs.",
	canvas.CodeNoHandler:           "ahp-canvas ls shows the actions of each canvas.",
	canvas.CodeProviderUnavailable: "What provides this canvas is not there now: start it, or close the canvas.",
	canvas.CodeTimeout:             "It may still have happened: look at the canvas before you repeat it.",
	canvas.CodeLimitExceeded:       "Where too many canvases are open, close those of no more use: ahp-canvas ls shows them.",
	codeUnwell:                     "The lines above say what to do.",
	codeOffline:                    "Start it where it belongs, with ahp-canvas serve --relay …; the link stays the same.",
	codeLinkRefused:                "Take the link that serve prints now, or ask for a new one.",
	codeNoHost:                     "Start one with: ahp-canvas serve",
	mcp.CodeUnreachable:            "Look whether it still runs, or start one with: ahp-canvas serve",
	mcp.CodeRefused:                "It may be of another version than this command: restart it with the same one.",
	mcp.CodeTokenRefused:           "Give its agent token with --token-file or in AHP_CANVAS_TOKEN.",
}

func hintFor(e *canvas.Error) string {
	return strings.ReplaceAll(hints[e.Code], "{candidates}", strings.Join(e.Candidates, ", "))
}

func failf(code, format string, args ...any) error {
	return &canvas.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// about says in an error's message what it is about.
func about(what string, err error) error {
	if e, ok := errors.AsType[*canvas.Error](err); ok {
		named := *e
		named.Message = what + ": " + e.Message
		return &named
	}
	return fmt.Errorf("%s: %w", what, err)
}
