package aam

// LowerPINRounds makes PINs of tests cheap.
func LowerPINRounds() { pinRounds = 1000 }
