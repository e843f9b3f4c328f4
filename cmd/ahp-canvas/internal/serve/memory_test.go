package serve

import "testing"

func TestByteSize(t *testing.T) {
	for text, want := range map[string]byteSize{"512MiB": 512 << 20, "2GiB": 2 << 30, "67108864": 64 << 20, "64KiB": 64 << 10, "1B": 1} {
		var b byteSize
		if err := b.Set(text); err != nil || b != want {
			t.Errorf("%s is %d: %v", text, b, err)
		}
		var again byteSize
		if err := again.Set(b.String()); err != nil || again != b {
			t.Errorf("%s is written as %s", text, b)
		}
	}
	for _, text := range []string{"", "0", "-1", "1MB", "MiB", "9999999999GiB", "1.5GiB"} {
		if err := new(byteSize).Set(text); err == nil {
			t.Errorf("%q is a size", text)
		}
	}
	if err := (&options{memory: 1 << 20}).check(); err == nil {
		t.Error("a host starts with a mebibyte")
	}
}
