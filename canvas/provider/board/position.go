package board

import "github.com/ahp-canvas/ahp-canvas/ahp"

// position is an index. It accepts each form of a whole number that the schema
// accepts: agents also write 1.0.
type position int

// UnmarshalJSON decodes a number, and clamps it to the range of all indexes.
func (p *position) UnmarshalJSON(data []byte) error {
	var n float64
	if err := ahp.Unmarshal(data, &n); err != nil {
		return err
	}
	*p = position(max(0, min(n, MaxCards)))
	return nil
}

// index returns the index among n items at which to insert: n if at is absent or larger.
func index(at *position, n int) int {
	if at == nil {
		return n
	}
	return max(0, min(int(*at), n))
}
