package ahp

import "testing"

// TestToErrorQuotes: an error that quotes invalid UTF-8 can be sent.
func TestToErrorQuotes(t *testing.T) {
	e := Errorf(CodeNotFound, "no %s", "\xffthing")
	got := ToError(e)
	if want := "no \uFFFDthing"; got.Message != want || got.Code != CodeNotFound {
		t.Errorf("have %q (%d), want %q", got.Message, got.Code, want)
	}
	if _, err := Marshal(got); err != nil {
		t.Error(err)
	}
	if plain := Errorf(CodeNotFound, "no thing"); ToError(plain) != plain {
		t.Error("an error that can be written was copied")
	}
}

// TestMustMarshalQuotes: so can a string that nothing has checked.
func TestMustMarshalQuotes(t *testing.T) {
	title := "a\xffb"
	got := MustMarshal(map[string]any{"title": &title, "list": []string{"\xc3", "fine ü"}})
	if want := `{"list":["` + "\uFFFD" + `","fine ü"],"title":"a` + "\uFFFD" + `b"}`; string(got) != want {
		t.Errorf("have %s\nwant %s", got, want)
	}
}
