// Package aamcmd is the verbs about AAM, with which agents use web sites and sites' agents
// use this host: aam init, aam pin and aam settle.
//
// It imports the cores of AAM, package reach to find a running host, and package term.
package aamcmd
