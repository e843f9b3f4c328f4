package chart

import (
	"testing"

	"github.com/ahp-canvas/ahp-canvas/ahp"
)

func TestCopy(t *testing.T) {
	table := Table{
		Columns: []Column{{Name: "=Name", Type: text}, {Name: "Value", Type: number}},
		Rows:    [][]ahp.Value{{ahp.Value(`"a \"b\", c"`), ahp.Value("-1.50")}, {ahp.Value(`"=1+1"`), ahp.Value("null")}, {ahp.Value(`""`), ahp.Value("2")}},
	}
	c, err := table.csv()
	const want = "'=Name,Value\n\"a \"\"b\"\", c\",-1.50\n'=1+1,\n,2\n"
	if err != nil || string(c.Data) != want {
		t.Errorf("%q, %v, want %q", c.Data, err, want)
	}
}
