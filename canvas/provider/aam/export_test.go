package aam

// DefaultPINRounds is how often a program hashes a new PIN.
var DefaultPINRounds = pinRounds

// LowerPINRounds makes PINs of tests cheap.
func LowerPINRounds() { pinRounds = 1000 }
