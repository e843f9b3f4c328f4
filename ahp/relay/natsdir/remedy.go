package natsdir

import (
	"crypto/x509"
	"errors"
	"io/fs"
	"strings"

	"github.com/nats-io/nats.go"
)

// remedy returns what an operator can do about an error of the connection to NATS; "" if only
// time helps.
func remedy(err error) string {
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, named := errors.AsType[x509.HostnameError](err)
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	_, file := errors.AsType[*fs.PathError](err)
	text := strings.ToLower(errorText(err))
	switch {
	case err == nil:
		return ""
	case errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAccountAuthExpired):
		return "the credentials have expired; write new ones to the file of --nats-creds"
	case errors.Is(err, nats.ErrAuthRevoked):
		return "the credentials were revoked; write new ones to the file of --nats-creds"
	case errors.Is(err, nats.ErrAuthorization):
		return "the NATS server does not accept this relay's user; give the credentials of a user of the fleet's account with --nats-creds"
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the NATS server has no TLS, which --nats-ca, --nats-cert or tls:// ask for; switch it on there"
	case unknown:
		return "the certificate of the NATS server is from an unknown authority; give that authority's certificate with --nats-ca"
	case named:
		return "the certificate of the NATS server is for other names than the one in --nats"
	case isInvalid && invalid.Reason == x509.Expired:
		return "the certificate of the NATS server has expired; renew it there"
	case strings.Contains(text, "remote error: tls:"):
		return "the NATS server requires a client certificate that it knows; give one with --nats-cert and --nats-key"
	case file, strings.Contains(text, "jwt"), strings.Contains(text, "nkey"):
		return "the file of --nats-creds cannot be used; it must be the one that NATS made for a user, such as \"nsc generate creds\""
	}
	return ""
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// notAccepted logs why NATS does not accept this edge, once for each remedy until it does.
func (d *Directory) notAccepted(err error) {
	say := remedy(err)
	if say == "" {
		return
	}
	d.mu.Lock()
	known := d.remedy == say
	d.remedy = say
	d.mu.Unlock()
	if !known {
		d.opts.Logger.Error("NATS does not accept this relay", "err", err, "do", say)
	}
}
