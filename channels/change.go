package channels

import (
	"fmt"
	"unicode/utf8"
)

// Check returns an error if no Store may accept the change: the key is empty,
// longer than MaxKey or not UTF-8, or the value is longer than MaxValue. A Store
// calls it before it changes anything. The error wraps none of the Err* values.
func (c Change) Check() error {
	switch {
	case c.Key == "":
		return fmt.Errorf("channels: the key of a record is empty")
	case len(c.Key) > MaxKey:
		return fmt.Errorf("channels: the key of a record has %d bytes, at most %d are allowed", len(c.Key), MaxKey)
	case !utf8.ValidString(c.Key):
		return fmt.Errorf("channels: the key of a record is not UTF-8: %+q", c.Key)
	case !c.Delete && len(c.Value) > MaxValue:
		return fmt.Errorf("channels: the value of %.100q has %d bytes, at most %d are allowed", c.Key, len(c.Value), MaxValue)
	}
	return nil
}
