package channels

import (
	"fmt"
	"unicode/utf8"
)

// Check says what is wrong with a change that no Store may take: a key that is
// empty, longer than MaxKey or no UTF-8, a value longer than MaxValue. A Store
// calls it before anything else; its error wraps none of the Err* and leaves the
// store as it was.
func (c Change) Check() error {
	switch {
	case c.Key == "":
		return fmt.Errorf("channels: a record's key is empty")
	case len(c.Key) > MaxKey:
		return fmt.Errorf("channels: a record's key has %d bytes, %d are allowed", len(c.Key), MaxKey)
	case !utf8.ValidString(c.Key):
		return fmt.Errorf("channels: a record's key is no UTF-8: %+q", c.Key)
	case !c.Gone && len(c.Value) > MaxValue:
		return fmt.Errorf("channels: the value of %.100q has %d bytes, %d are allowed", c.Key, len(c.Value), MaxValue)
	}
	return nil
}
