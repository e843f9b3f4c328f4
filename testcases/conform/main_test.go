package conform_test

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp/ahptest"
)

func TestMain(m *testing.M) { ahptest.VerifyNoLeaks(m) }
