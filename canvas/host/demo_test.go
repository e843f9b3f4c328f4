package host_test

import demos "github.com/ahp-canvas/ahp-canvas/testcases/demo"

// demo is the provider of the transcripts.
type demo = demos.Provider

var (
	demoDeclaration   = demos.Declaration
	otherDeclarations = demos.Others
)
