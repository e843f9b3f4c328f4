// Package aamcmd is the verbs about AAM, with which agents use web sites and sites' agents
// use this host: aam check, init, keygen, mcp, pin and settle.
//
// It imports the cores of AAM, canvas/outbound, package reach to find a running
// host, canvas/client to ask it as a person does, and package term.
package aamcmd
