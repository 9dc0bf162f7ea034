package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

// readWithin bounds how long a client takes to send a body.
const readWithin = 5 * time.Second

// policy is the page's Content-Security-Policy: nothing inline, nothing from elsewhere,
// and no text that becomes HTML.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types ralph"

// newToken makes the secret of one start.
func newToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// guarded lets only those requests through that come from this machine's own page, or from
// a program that has the token.
func (s *Server) guarded(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fail(w, http.StatusForbidden, Fault{Error: "this comes from another origin", Reason: "origin"})
	}))
	inner := crossOrigin.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		if !s.ownHost(r.Host) {
			fail(w, http.StatusMisdirectedRequest, Fault{Error: "this server answers only to 127.0.0.1, localhost and [::1], with its port", Reason: "host"})
			return
		}
		if r.ContentLength != 0 { // whoever does not send what was announced is cut off
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readWithin)) // connections have one
		}
		inner.ServeHTTP(w, r)
	})
}

// unhurried says that a request was read: what is done then may take its time.
func unhurried(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // connections have one
}

// ownHost reports whether a Host header names this server: a page whose name was made to
// resolve to 127.0.0.1 does not.
func (s *Server) ownHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	return err == nil && port == s.port && slices.Contains([]string{"127.0.0.1", "localhost", "::1"}, name)
}

// allowed reports whether a request carries the token; otherwise it answers it.
func (s *Server) allowed(w http.ResponseWriter, r *http.Request) bool {
	given, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if is && subtle.ConstantTimeCompare([]byte(given), []byte(s.token)) == 1 {
		return true
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	fail(w, http.StatusUnauthorized, Fault{Error: "open the link that ralph ui printed", Hint: "each start makes a new one", Reason: "token"})
	return false
}

// isJSON reports whether a request says that its body is JSON.
func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}
