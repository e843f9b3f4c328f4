package board

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
	"github.com/ahp-canvas/ahp-canvas/canvas/canvastest"
)

func TestProvider(t *testing.T) {
	canvastest.TestProvider(t, canvastest.Config{
		Provider: New(), Declaration: Declaration(),
		Input: ahp.Value(`{"title":"Trip"}`), Other: ahp.Value(`{"title":"Journey","lists":["Later"]}`),
		Action: "add_card", ActionInput: ahp.Value(`{"list":"todo","title":"Pack"}`), Path: "/",
	})
}
