//go:build !unix

package main

import "os/exec"

func asGroup(*exec.Cmd) {}

// killGroup ends a program. Its children continue.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
