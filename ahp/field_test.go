package ahp

import "testing"

func TestFieldIsThreeThings(t *testing.T) {
	type update struct {
		Title Field[string] `json:"title,omitzero"`
	}
	old := "old"
	for _, c := range []struct {
		in      string
		present bool
		after   string // "" for nil
	}{
		{`{}`, false, "old"},
		{`{"title":null}`, true, ""},
		{`{"title":"new"}`, true, "new"},
	} {
		var u update
		if err := Unmarshal([]byte(c.in), &u); err != nil {
			t.Fatal(err)
		}
		after := ""
		if p := u.Title.Or(&old); p != nil {
			after = *p
		}
		if u.Title.Present != c.present || after != c.after {
			t.Errorf("%s: present %v, after it %q", c.in, u.Title.Present, after)
		}
		if out := MustMarshal(u); string(out) != c.in {
			t.Errorf("%s encodes as %s", c.in, out)
		}
	}
	if err := Unmarshal([]byte(`{"title":1}`), new(update)); err == nil {
		t.Error("a number was taken for a title")
	}
}
