package ahp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestNegotiate(t *testing.T) {
	for offered, want := range map[string]string{
		"0.5.1":             "0.5.1",
		"0.5.1 0.5.9 0.5.0": "0.5.9",
		"0.5.1 0.6.3 1.0.0": "0.6.3",
		"0.9.0 1.0.0":       "",
		"0.4.0":             "",
		"0.5":               "",
		"0.05.1":            "",
		"0.5.1-rc.1":        "",
		"+0.5.1 0.5.-1":     "",
		"junk 0.6.0":        "0.6.0",
		"":                  "",
	} {
		if got, _, ok := Negotiate(strings.Fields(offered)); got != want || ok != (want != "") {
			t.Errorf("Negotiate(%s) = %q %v, want %q", offered, got, ok, want)
		}
	}
}

func TestToErrorKeepsTheCode(t *testing.T) {
	for _, tc := range []struct {
		err  error
		code Code
		text string
	}{
		{fmt.Errorf("open: %w", Errorf(CodeConflict, "x")), CodeConflict, "x"},
		{errors.Join(errors.New("a"), ErrNotFound), CodeNotFound, "no such resource"},
		{fmt.Errorf("read: %w", context.DeadlineExceeded), CodeInternal, "the request took too long"},
		{errors.New("secret detail"), CodeInternal, "internal error"},
	} {
		if got := ToError(tc.err); got.Code != tc.code || got.Message != tc.text {
			t.Errorf("ToError(%v) = %v", tc.err, got)
		}
	}
	if !errors.Is(Errorf(CodeNotFound, "other words"), ErrNotFound) {
		t.Error("errors are compared by code")
	}
}

func TestCapabilities(t *testing.T) {
	set, err := ClientCapabilities{"canvas": Value("{}"), "later": Value(`{"x":1}`), "off": Null, "flag": Value("true"), "list": Value("[1]")}.Set()
	if err != nil || !set.Has("canvas") || !set.Has("later") || set.Has("off") || !set.Has("") {
		t.Errorf("set = %v, %v", set, err)
	}
	_, err = ClientCapabilities{"canvas": Value("true")}.Set()
	if err == nil || err.Error() != "/capabilities/canvas: want an object, have a boolean (-32602)" {
		t.Errorf("a flag that is no object: %v", err)
	}
}
