package board

import "github.com/ahp-canvas/ahp-canvas/ahp"

// position is a place in an order, in every form of a whole number that the
// schema lets through: agents write 1.0, too.
type position int

// UnmarshalJSON reads a number; what is beyond every order is the end.
func (p *position) UnmarshalJSON(data []byte) error {
	var n float64
	if err := ahp.Unmarshal(data, &n); err != nil {
		return err
	}
	*p = position(max(0, min(n, MaxCards)))
	return nil
}

// place is a position among n things: the end where it is absent or beyond.
func place(at *position, n int) int {
	if at == nil {
		return n
	}
	return max(0, min(int(*at), n))
}
