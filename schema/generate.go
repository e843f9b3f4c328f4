package schema

//go:generate go run ../cmd/ahp-schema ..
//go:generate node proof/typescript.mjs
