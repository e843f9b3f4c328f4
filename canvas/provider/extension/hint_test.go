package extension

import (
	"errors"
	"os/exec"
	"strings"
	"testing"
)

func TestHint(t *testing.T) {
	for _, tt := range []struct {
		why  error
		want string
	}{
		{notStarted("node", &exec.Error{Name: "node", Err: exec.ErrNotFound}), "Install Node.js 22 or newer"},
		{errors.New("it ended with exit status 1. Its last output:\nError [ERR_UNKNOWN_BUILTIN_MODULE]: No such built-in module: node:sqlite"), "Node.js 22"},
		{errors.New("it ended. Its last output:\nTo get started with GitHub CLI, please run:  gh auth login"), "gh auth login"},
		{errors.New("browserType.launch: Executable doesn't exist at /x\nnpx playwright install"), "Install a browser"},
		{errors.New("Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'ws'"), "npm install"},
		{errors.New("Error: spawn ffmpeg ENOENT"), "Install the program ffmpeg"},
		{errors.New("TypeError: x is not a function"), ""},
	} {
		if got := hint(tt.why); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%v: %q, want %q", tt.why, got, tt.want)
		}
	}
	long := errors.New("it ended with exit status 1. Its last output:\nfile:///x.mjs:3\n\nError: Cannot find package '" + strings.Repeat("\u202ex", 300) + "'\n    at y")
	got := reasonText(long)
	if !strings.HasPrefix(got, "It does not start: Error: Cannot find package 'x") || !strings.HasSuffix(got, "run npm install in its folder.") || len(got) > 300 || strings.Contains(got, "\u202e") {
		t.Errorf("the card says %q", got)
	}
}
