package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// networks are two networks beside that of this program, in which the hosts and the apps are:
// the relay's, and that of the people. The relay has a cable to each of the others, and does
// not forward, so people reach nothing but the relay. They take Linux, root and iproute2.
type networks struct {
	relay, people string // network namespaces
	cert, key     string // files of the relay's certificate
	spki          string // the hash of its key, for a browser
}

// The addresses of the networks. relayAddress is a separate one, which both others reach.
const (
	relayAddress                 = "10.232.3.1"
	relayPort                    = "8443"
	relayToHost, hostAddress     = "10.232.1.1", "10.232.1.2"
	relayToPeople, peopleAddress = "10.232.2.1", "10.232.2.2"
	relayOrigin                  = "https://" + relayAddress + ":" + relayPort
	relayContent                 = "*.canvas.test"
)

// newNetworks creates the networks, and a certificate in a folder.
func newNetworks(ctx context.Context, dir string) (*networks, error) {
	n := &networks{relay: fmt.Sprintf("survey-%d-relay", os.Getpid()), people: fmt.Sprintf("survey-%d-people", os.Getpid())}
	commands := [][]string{
		{"netns", "add", n.relay}, {"netns", "add", n.people},
		{"link", "add", "survey-relay", "type", "veth", "peer", "name", "to-host", "netns", n.relay},
		{"link", "add", "to-people", "netns", n.relay, "type", "veth", "peer", "name", "to-relay", "netns", n.people},
		{"address", "add", hostAddress + "/30", "dev", "survey-relay"},
		{"-n", n.relay, "address", "add", relayToHost + "/30", "dev", "to-host"},
		{"-n", n.relay, "address", "add", relayToPeople + "/30", "dev", "to-people"},
		{"-n", n.relay, "address", "add", relayAddress + "/32", "dev", "lo"},
		{"-n", n.people, "address", "add", peopleAddress + "/30", "dev", "to-relay"},
		{"link", "set", "survey-relay", "up"},
		{"-n", n.relay, "link", "set", "lo", "up"}, {"-n", n.relay, "link", "set", "to-host", "up"}, {"-n", n.relay, "link", "set", "to-people", "up"},
		{"-n", n.people, "link", "set", "lo", "up"}, {"-n", n.people, "link", "set", "to-relay", "up"},
		{"route", "add", relayAddress + "/32", "via", relayToHost},
		{"-n", n.people, "route", "add", relayAddress + "/32", "via", relayToPeople},
		{"netns", "exec", n.relay, "sh", "-c", "echo 0 > /proc/sys/net/ipv4/ip_forward"},
	}
	for _, args := range commands {
		if out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput(); err != nil {
			n.remove()
			return nil, fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	if err := n.certify(dir); err != nil {
		n.remove()
		return nil, err
	}
	return n, nil
}

// remove removes the networks, with the cables and routes to them.
func (n *networks) remove() {
	if n == nil {
		return
	}
	for _, name := range []string{n.people, n.relay} {
		_ = exec.Command("ip", "netns", "delete", name).Run()
	}
	_ = exec.Command("ip", "link", "delete", "survey-relay").Run() // the kernel removes a namespace later
}

// in returns the command line that runs a command in a network.
func in(network string, args ...string) []string {
	return append([]string{"ip", "netns", "exec", network}, args...)
}

// browserIn writes a program that runs another one in a network.
func browserIn(network, dir, exe string) (string, error) {
	name := filepath.Join(dir, "browser")
	script := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\"\n", strings.Join(in(network, exe), " "))
	return name, os.WriteFile(name, []byte(script), 0o700)
}

// certify writes a certificate of the relay and its canvases.
func (n *networks) certify(dir string) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{relayContent}, IPAddresses: []net.IP{net.ParseIP(relayAddress)},
		NotAfter: time.Now().AddDate(0, 0, 1), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(private.Public())
	if err != nil {
		return err
	}
	sum := sha256.Sum256(public)
	n.spki = base64.StdEncoding.EncodeToString(sum[:])
	n.cert, n.key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "cert.key")
	if err := os.WriteFile(n.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		return err
	}
	return os.WriteFile(n.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600)
}
