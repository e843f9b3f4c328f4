package storetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ahp-canvas/ahp-canvas/channels"
)

// modelSteps is the number of steps of the model test.
const modelSteps = 300

// testModel applies random batches to the store and to a map, and compares them.
func testModel(t *testing.T, p *place) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 5))
	want := map[string]string{}
	check(t, p.start(t), want)
	for range modelSteps {
		switch r.IntN(20) {
		case 0:
			check(t, p.again(t), want)
		case 1:
			check(t, p.load(t), want)
		case 2:
			if err := p.s.Commit(t.Context(), append(randomBatch(r), set("", ""))...); err == nil {
				t.Fatal("an empty key was accepted")
			}
		default:
			batch := randomBatch(r)
			p.commit(t, batch...)
			for _, c := range batch {
				if c.Delete {
					delete(want, c.Key)
				} else {
					want[c.Key] = string(c.Value)
				}
			}
		}
	}
	check(t, p.again(t), want)
	p.stop(t)
}

// randomBatch returns a batch with few different keys, so that records are often
// replaced, and with values of all sizes.
func randomBatch(r *rand.Rand) []channels.Change {
	batch := make([]channels.Change, r.IntN(6))
	for i := range batch {
		key := fmt.Sprintf("k%d", r.IntN(40))
		if r.IntN(4) == 0 {
			key += strings.Repeat("/long", r.IntN(300))
		}
		batch[i] = channels.Change{Key: key, Delete: r.IntN(3) == 0, Value: make([]byte, r.IntN(20)*r.IntN(20)*r.IntN(20))}
		for j := range batch[i].Value {
			batch[i].Value[j] = byte(r.Uint32())
		}
	}
	return batch
}
