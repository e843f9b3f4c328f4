package appview

import "testing"

// TestBare: comments and spaces without a meaning go; texts, templates, regular expressions and
// the ends of statements stay.
func TestBare(t *testing.T) {
	for in, want := range map[string]string{
		"// c\nlet a = 1; // d\n/** e */ let b = 2;\n":   "let a=1;let b=2;",
		"const s = \"a  // b\" + 'c /* d */';":           "const s=\"a  // b\"+'c /* d */';",
		"f(`x  ${ g({ a: \"}\" }) }  // y`)\nh()":        "f(`x  ${ g({ a: \"}\" }) }  // y`)\nh()",
		"s.replace(/[/] \\/  x/g, \" \"); a = b / c / d": "s.replace(/[/] \\/  x/g,\" \");a=b/c/d",
		"return /x y/.test(s)":                           "return/x y/.test(s)",
		"a = b + +c - -d\n++e":                           "a=b+ +c- -d\n++e",
		"if (a in b) {\n  c()\n}\nelse d":                "if(a in b){c()}\nelse d",
		"class A {\n  #b = 1;\n  get #c() { return 2 }}": "class A{#a=1;get #b(){return 2}}",
	} {
		if got := bare(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}
